// Builds to build/web: index.html and assets/ for the origin of our pages, replay/ for the origin
// of replayed ones. wabac.js is copied there as it comes from npm, with its licence.
import { copyFileSync, mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { defineConfig, type Plugin } from "vite";

const out = resolve(__dirname, "../build/web");

function copyWabac(): Plugin {
  return {
    name: "copy-wabac",
    apply: "build",
    closeBundle() {
      const from = resolve(__dirname, "node_modules/@webrecorder/wabac");
      mkdirSync(`${out}/replay`, { recursive: true });
      copyFileSync(`${from}/dist/sw.js`, `${out}/replay/sw.js`);
      copyFileSync(`${from}/LICENSE.md`, `${out}/replay/sw.js.LICENSE.md`);
    },
  };
}

export default defineConfig({
  base: "/",
  build: {
    outDir: out,
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rollupOptions: {
      input: { index: resolve(__dirname, "index.html"), shell: resolve(__dirname, "src/shell.ts") },
      output: {
        entryFileNames: (chunk) =>
          chunk.name === "shell" ? "replay/shell.js" : "assets/[name]-[hash].js",
        chunkFileNames: "assets/[name]-[hash].js",
        assetFileNames: "assets/[name]-[hash][extname]",
      },
    },
  },
  plugins: [copyWabac()],
});
