#!/usr/bin/env node
declare const LATHE_VERSION: string;

console.log(LATHE_VERSION);
