#include "net/event_loop.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <thread>

#include "net/worker_pool.h"

namespace stele::net {
namespace {

using std::chrono::milliseconds;

TEST(EventLoop, CallsInTheOrderOfPosting) {
  EventLoop loop;
  std::vector<int> seen;
  std::promise<void> done;
  for (int i = 0; i < 100; ++i) loop.Post([&seen, i] { seen.push_back(i); });
  loop.Post([&done] { done.set_value(); });
  done.get_future().wait();
  ASSERT_EQ(seen.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(seen[i], i);
}

TEST(EventLoop, KnowsItsThread) {
  EventLoop loop;
  std::promise<bool> inside;
  loop.Post([&] { inside.set_value(loop.OnLoopThread()); });
  EXPECT_TRUE(inside.get_future().get());
  EXPECT_FALSE(loop.OnLoopThread());
}

TEST(EventLoop, TimersCallOnceAndTheEarlierFirst) {
  EventLoop loop;
  std::vector<int> seen;
  std::promise<void> done;
  const auto later = loop.CallAfter(milliseconds(60), [&] {
    seen.push_back(2);
    done.set_value();
  });
  const auto earlier = loop.CallAfter(milliseconds(1), [&] { seen.push_back(1); });
  done.get_future().wait();
  EXPECT_EQ(seen, (std::vector<int>{1, 2}));
}

TEST(EventLoop, ADestroyedTimerIsNotCalled) {
  EventLoop loop;
  std::atomic<bool> called = false;
  std::promise<void> done;
  loop.Post([&] {
    auto timer = loop.CallAfter(milliseconds(0), [&] { called = true; });
    timer.reset();
  });
  const auto end = loop.CallAfter(milliseconds(20), [&] { done.set_value(); });
  done.get_future().wait();
  EXPECT_FALSE(called);
}

TEST(EventLoop, ATimerMayReplaceItself) {
  EventLoop loop;
  std::promise<void> done;
  std::unique_ptr<Timer> timer;
  int calls = 0;
  std::function<void()> call = [&] {
    if (++calls == 3) return done.set_value();
    timer = loop.CallAfter(milliseconds(1), call);
  };
  loop.Post(call);
  done.get_future().wait();
  loop.Stop();
  EXPECT_EQ(calls, 3);
}

TEST(EventLoop, StopsWithTimersWaiting) {
  EventLoops loops(3);
  EXPECT_EQ(loops.size(), 3U);
  const auto timer = loops.at(1).CallAfter(std::chrono::hours(1), [] { FAIL(); });
  loops.Stop();
  loops.Stop();
}

TEST(WorkerPool, DoesAllItWasGivenBeforeItStops) {
  std::atomic<int> done = 0;
  WorkerPool pool(4);
  for (int i = 0; i < 1000; ++i) pool.Run([&done] { ++done; });
  pool.Stop();
  EXPECT_EQ(done, 1000);
}

TEST(WorkerPool, WorksOnSeveralThingsAtOnce) {
  WorkerPool pool(2);
  std::promise<void> first, second;
  std::promise<void> both;
  pool.Run([&] {
    first.set_value();
    second.get_future().wait();
    both.set_value();
  });
  pool.Run([&] {
    first.get_future().wait();
    second.set_value();
  });
  both.get_future().wait();
}

TEST(WorkerPool, SomeDoSomethingAtOnceAndOthersTakeTheTurnsOfThoseThatWait) {
  constexpr int kWaiting = 6;
  WorkerPool pool(8, 2, std::chrono::milliseconds(1));
  std::promise<void> open;
  std::shared_future<void> gate = open.get_future().share();
  std::atomic<int> waiting = 0;
  for (int i = 0; i < kWaiting; ++i) {
    pool.Run([&, gate] {
      ++waiting;
      gate.wait();
    });
  }
  // More wait than may do something at once, and still there is somebody for what comes.
  std::promise<void> done;
  pool.Run([&] { done.set_value(); });
  done.get_future().wait();
  EXPECT_EQ(waiting, kWaiting);
  open.set_value();
  std::atomic<int> count = 0;
  for (int i = 0; i < 1000; ++i) pool.Run([&count] { ++count; });
  pool.Stop();
  EXPECT_EQ(count, 1000);
}

TEST(WorkerPool, NoMoreThanSaidDoSomethingAtOnce) {
  WorkerPool pool(8, 2, std::chrono::hours(1));
  std::atomic<int> now = 0;
  std::atomic<int> most = 0;
  for (int i = 0; i < 5000; ++i) {
    pool.Run([&] {
      const int here = ++now;
      int before = most;
      while (before < here && !most.compare_exchange_weak(before, here)) continue;
      --now;
    });
  }
  pool.Stop();
  EXPECT_LE(most, 2);
}

// Counts how often its socket had something to read.
class CountingWatcher final : public Watcher {
 public:
  void OnReadable() override { ++count; }
  std::atomic<int> count = 0;
};

TEST(WorkerPool, CallsOnceWhenASocketHasSomethingToRead) {
  int sockets[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  const auto watcher = std::make_shared<CountingWatcher>();
  WorkerPool pool(2);
  EXPECT_FALSE(pool.Unwatch(sockets[0]));
  for (int round = 1; round <= 100; ++round) {
    ASSERT_TRUE(pool.Watch(sockets[0], watcher));
    ASSERT_EQ(::send(sockets[1], "x", 1, 0), 1);
    while (watcher->count < round) std::this_thread::yield();
    EXPECT_FALSE(pool.Unwatch(sockets[0]));
  }
  char room[200];
  EXPECT_EQ(::recv(sockets[0], room, sizeof room, 0), 100);
  ASSERT_TRUE(pool.Watch(sockets[0], watcher));
  EXPECT_TRUE(pool.Unwatch(sockets[0]));
  ASSERT_EQ(::send(sockets[1], "x", 1, 0), 1);
  ASSERT_TRUE(pool.Watch(sockets[0], watcher));  // what came meanwhile is noticed
  while (watcher->count < 101) std::this_thread::yield();
  ::close(sockets[1]);
  ASSERT_TRUE(pool.Watch(sockets[0], watcher));
  while (watcher->count < 102) std::this_thread::yield();
  pool.Stop();
  EXPECT_EQ(watcher->count, 102);
  ::close(sockets[0]);
  EXPECT_FALSE(pool.Watch(sockets[0], watcher));
}

// Whoever has taken a socket has it alone.
TEST(WorkerPool, ASocketIsTakenByOne) {
  int sockets[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  ASSERT_EQ(::send(sockets[1], "x", 1, 0), 1);
  const auto watcher = std::make_shared<CountingWatcher>();
  WorkerPool pool(3);
  int taken_back = 0;
  for (int round = 1; round <= 2000; ++round) {
    ASSERT_TRUE(pool.Watch(sockets[0], watcher));
    if (round % 3 == 0) std::this_thread::yield();
    if (pool.Unwatch(sockets[0])) ++taken_back;
    while (watcher->count + taken_back < round) std::this_thread::yield();
    ASSERT_EQ(watcher->count + taken_back, round);
  }
  ::close(sockets[0]);
  ::close(sockets[1]);
}

}  // namespace
}  // namespace stele::net
