// esbuild bundles an imported style sheet into a file with the script's name.
declare module '*.css';
