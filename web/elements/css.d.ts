// esbuild bundles an imported style sheet into a file beside the script's.
declare module '*.css';
