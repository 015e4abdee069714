// Loaded into nfs-ganesha (LD_PRELOAD): its REMOVE answers after unlinkat() without any sync, so
// that a removed file may be back after a crash. With this, the directory is synced before the
// answer, as the kernel's NFS server does it and as every delete of a volume server is. It costs
// the client no further request.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

// The modules of nfs-ganesha shall find our unlinkat() before the system's.
extern "C" void* dlopen(const char* path, int flags) {
  using Dlopen = void* (*)(const char*, int);
  static const auto next = reinterpret_cast<Dlopen>(dlsym(RTLD_NEXT, "dlopen"));
  return next(path, flags & ~RTLD_DEEPBIND);
}

extern "C" int unlinkat(int directory, const char* path, int flags) {
  using Unlinkat = int (*)(int, const char*, int);
  static const auto next = reinterpret_cast<Unlinkat>(dlsym(RTLD_NEXT, "unlinkat"));
  const int failed = next(directory, path, flags);
  if (failed != 0) return failed;
  // The descriptor may be a bare path (O_PATH), which cannot be synced.
  const int open = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (open >= 0) {
    fsync(open);
    close(open);
  }
  return 0;
}
