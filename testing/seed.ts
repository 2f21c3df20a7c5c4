import { configureGlobal } from 'fast-check';

// Loaded before the tests when LATHE_SEED is set: property tests make their choices from it.
configureGlobal({ seed: Number(process.env['LATHE_SEED']) });
