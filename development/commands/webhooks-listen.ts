import { z } from 'zod';
import { count } from '../../src/config/values.js';
import { isSecret } from '../../src/webhooks/signing.js';
import { localCommand } from '../../src/ops/command.js';
import { option } from '../../src/ops/inputs.js';
import { OpsError } from '../../src/ops/failures.js';
import { WebhookReceiver } from '../receiver/receiver.js';
import { deliveryFields, deliveryLine } from '../receiver/delivery-output.js';

const DEFAULT_ANSWER = 200;

export const webhookListenCommand = localCommand({
  summary:
    'receive deliveries on this machine, check their signatures and show what arrives, until Ctrl-C',
  explanation:
    '\nRegister http://127.0.0.1:<port>/ as an endpoint where the operator allows it, as the demo world does.\nNeeds no database. With --json each delivery is a line of JSON.',
  examples: [
    'webhooks listen --port 9999 --secret whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'webhooks listen --port 9999 --secret whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw --answer 500',
  ],
  input: {
    port: option(
      '<port> port to listen on, only at 127.0.0.1; 0 takes any free port',
      count(0, 65_535),
    ),
    secret: option(
      "<secret> the endpoint's signing secret, whsec_…; in a rotation, the new or the old one",
      z.string().refine(isSecret, 'must be a signing secret as it was shown: whsec_…'),
    ),
    answer: option(
      `<status> what a good delivery is answered (default: ${DEFAULT_ANSWER}); a bad signature is answered 401`,
      count(200, 599).default(DEFAULT_ANSWER),
    ),
    delayMs: option(
      '<ms> wait this long before each answer (default: 0)',
      count(0, 600_000).default(0),
    ),
  },
  run: async (output, { port, secret, answer, delayMs }) => {
    const receiver = new WebhookReceiver({ secret, answer, delayMs }, (delivery) =>
      output.each(deliveryFields(delivery), deliveryLine(delivery)),
    );
    const listensOn = await receiver.listen(port).catch((error: NodeJS.ErrnoException) => {
      throw new OpsError(`cannot listen on port ${port}: ${error.code}`);
    });
    // Ends when the reader of the output has closed it.
    process.stdout.once('error', () => process.exit());
    output.say(`Listening on http://127.0.0.1:${listensOn}/; Ctrl-C ends it.`);
    await interrupted();
    await receiver.close();
  },
});

function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}
