// A style sheet that a script names is bundled beside it.
declare module '*.css';
