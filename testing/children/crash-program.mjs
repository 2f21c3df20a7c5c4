// Loaded into the program before it starts (node --import): makes it fail the way LATHE_TEST_CRASH says.
const boom = () => {
  throw new Error('boom');
};
const kind = process.env.LATHE_TEST_CRASH;
// The height is asked for when the screen is first drawn.
if (kind === 'component') Object.defineProperty(process.stdout, 'rows', { get: boom });
if (kind === 'exception') process.on('SIGUSR2', boom);
if (kind === 'rejection') process.on('SIGUSR2', () => void Promise.reject(new Error('boom')));
