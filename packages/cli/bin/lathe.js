#!/usr/bin/env node
// The former name of lathe.cjs, for scripts that run a checkout.
import './lathe.cjs';
