import { defineConfig } from "vite";

// File names stay the same from build to build. The service sends an ETag, so a browser asks again and loads only news.
export default defineConfig({
  base: "./",
  esbuild: { jsx: "automatic", jsxImportSource: "preact", legalComments: "none" },
  build: {
    outDir: "../built",
    emptyOutDir: true,
    modulePreload: false,
    target: "es2022",
    rollupOptions: { output: { entryFileNames: "app.js", assetFileNames: "app[extname]" } },
  },
});
