/** The text of a file, inlined by the build. A script for the page comes with what it imports. */
declare module '*?raw' {
  const text: string;
  export default text;
}
