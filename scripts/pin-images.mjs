/**
 * `npm run images:pin`: writes the digest of every image in docker-compose.yml and the Dockerfile after its version, as
 * given by the registry, so that exactly the examined bytes run. If a registry does not answer, nothing is changed. `--
 * --check` changes nothing and exits with 1 if a digest is missing or different.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestOf, imagesIn, withDigests } from './lib/images.mjs';
import { ROOT } from './lib/paths.mjs';
import { say, UserError } from './lib/progress.mjs';

const FILES = ['docker-compose.yml', 'Dockerfile'].map((name) => join(ROOT, name));

async function main() {
  const isCheck = process.argv.includes('--check');
  const texts = FILES.map((file) => readFileSync(file, 'utf8'));
  const images = [...new Set(texts.flatMap(imagesIn))];
  // Gets all of them before writing any: half a set of pins is useless.
  const digests = new Map();
  for (const image of images) digests.set(image, await digestOf(image));
  const pinned = texts.map((text) => withDigests(text, digests));
  const changed = FILES.filter((_, index) => pinned[index] !== texts[index]);
  if (isCheck && changed.length > 0)
    throw new UserError(`Not pinned as the registries say: ${changed.join(', ')}.`);
  if (!isCheck) FILES.forEach((file, index) => writeFileSync(file, pinned[index]));
  for (const [image, digest] of digests) say(`${image} is ${digest}`);
}

main().catch((error) => {
  say(error instanceof UserError ? error.message : error.stack);
  process.exit(1);
});
