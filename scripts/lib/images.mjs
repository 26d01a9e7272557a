import { UserError } from './progress.mjs';

const DOCKER_HUB = 'registry-1.docker.io';
const TIMEOUT_MS = 15_000;
const MANIFESTS = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');
/** `image: mysql:8.4.7` and `FROM node:20.19.5 AS build`, with a digest or without. Our own image has no version. */
const NAMED = /^(\s*image: |FROM )([a-z0-9./_-]+:[A-Za-z0-9._-]+)(@sha256:[0-9a-f]{64})?(?=\s|$)/gm;

/** The images that a compose file or a Dockerfile names with a version, without digests. */
export function imagesIn(text) {
  return Array.from(text.matchAll(NAMED), ([, , image]) => image);
}

/** The text with each image's digest after its version. */
export function withDigests(text, digests) {
  return text.replace(NAMED, (_, before, image, old = '') => {
    const digest = digests.get(image);
    return `${before}${image}${digest ? `@${digest}` : old}`;
  });
}

/** The digest of the image's version, from its registry: `sha256:…` of the list for all platforms. Throws UserError. */
export async function digestOf(image) {
  const { registry, repository, tag } = placeOf(image);
  const url = `https://${registry}/v2/${repository}/manifests/${tag}`;
  try {
    const first = await head(url);
    const answer =
      first.status === 401
        ? await head(url, await tokenFor(first.headers.get('www-authenticate')))
        : first;
    const digest = answer.headers.get('docker-content-digest');
    if (!answer.ok || !/^sha256:[0-9a-f]{64}$/.test(digest ?? ''))
      throw new UserError(
        `${registry} has no digest of ${image} (status ${answer.status}). Nothing was changed.`,
      );
    return digest;
  } catch (error) {
    if (error instanceof UserError) throw error;
    const why = error.cause?.code ?? error.message;
    throw new UserError(`${registry} does not answer for ${image}: ${why}. Nothing was changed.`, {
      cause: error,
    });
  }
}

export function placeOf(image) {
  const [path, tag] = image.split(/:(?=[^/]*$)/);
  const [first, ...rest] = path.split('/');
  const isHost = rest.length > 0 && /[.:]|^localhost$/.test(first);
  if (isHost) return { registry: first, repository: rest.join('/'), tag };
  return { registry: DOCKER_HUB, repository: rest.length === 0 ? `library/${first}` : path, tag };
}

function head(url, token) {
  const headers = { accept: MANIFESTS, ...(token ? { authorization: `Bearer ${token}` } : {}) };
  return fetch(url, { method: 'HEAD', headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
}

/** Public images need a token too, which anybody can get. */
async function tokenFor(challenge) {
  const asked = Object.fromEntries(
    Array.from((challenge ?? '').matchAll(/(\w+)="([^"]*)"/g), ([, key, value]) => [key, value]),
  );
  if (!asked.realm?.startsWith('https://'))
    throw new Error('the registry requires a token that cannot be obtained');
  const url = new URL(asked.realm);
  for (const name of ['service', 'scope']) if (asked[name]) url.searchParams.set(name, asked[name]);
  const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  const { token, access_token: other } = await answer.json();
  return token ?? other;
}
