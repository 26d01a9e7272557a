import { writeFileSync } from 'node:fs';
import { configurationPage } from './docs/configuration.js';

/** `npm run docs:configuration`: writes the page that is made from the code. */
writeFileSync('docs/configuration.md', await configurationPage());
