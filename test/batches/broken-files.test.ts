import assert from 'node:assert/strict';
import { brokenFileCampaign } from '../campaigns/broken-files.js';
import { testDatabase } from '../support/database.js';

/** `npm run prove -- broken-files` has ten thousand. */
const FILES = 300;

describe('broken files', () => {
  it(`broken files of zip, XML and CSV end as 400 or rejected, all ${FILES} of them`, async () => {
    const { ends } = await brokenFileCampaign(await testDatabase(), {
      seed: 15,
      files: FILES,
      maxMs: 60_000,
    });
    for (const end of ['zip 400', 'zip rejected', 'xml rejected', 'csv rejected'])
      assert((ends.get(end) ?? 0) > 0, `none is ${end}`);
  });
});
