#!/usr/bin/env node
// In a checkout the sources are compiled first, and the database of a running `npm start` is found. A package has neither.
import { existsSync } from 'node:fs';

const checkout = new URL('../scripts/ops.mjs', import.meta.url);
await import(existsSync(checkout) ? checkout.href : new URL('../dist/src/ops/money-ops.js', import.meta.url).href);
