import { writeFileSync } from 'node:fs';
import { configurationPage } from './docs/configuration.js';

/** `npm run docs:configuration`: writes the page generated from the code. */
writeFileSync('docs/configuration.md', await configurationPage());
