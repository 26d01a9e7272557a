#!/usr/bin/env node
// In a checkout this first compiles the sources and finds the database of a running `npm start`. A package has neither.
import { existsSync } from 'node:fs';

const checkout = new URL('../scripts/ops.mjs', import.meta.url);
await import(
  existsSync(checkout) ? checkout.href : new URL('../dist/src/ops/main.js', import.meta.url).href
);
