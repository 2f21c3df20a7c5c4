/** The text of a file of the page, brought in by the build. */
declare module '*?raw' {
  const text: string;
  export default text;
}
