type Report = (message: string) => void;

const reports: Report[] = [];

/**
 * Warnings of Lathe itself, such as an audit log that cannot be written, go to the latest of those that asked for them, as
 * the screen does while it is open. Those of Node have names of their own. Returns the way to stop.
 */
export function reportWarnings(report: Report): () => void {
  if (reports.length === 0)
    process.on('warning', ({ name, message }) => {
      if (name === 'Warning') reports.at(-1)?.(message);
    });
  reports.push(report);
  return () => void reports.splice(reports.indexOf(report), 1);
}
