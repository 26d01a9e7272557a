import { z } from 'zod';
import { type CommandDefinition, localCommand } from '../command.js';
import { completionScript, SHELLS } from '../completion.js';
import { oneOf } from '../inputs.js';

export const completionCommand: CommandDefinition = (program) => {
  localCommand({
    usage: 'completion <shell>',
    summary: `print a script that completes commands and options in a shell: ${SHELLS.join(', ')}`,
    explanation: `
In ~/.bashrc:                  source <(money-ops completion bash)
In ~/.zshrc, after compinit:   source <(money-ops completion zsh)
It completes the program money-ops, which npm links (npm link, or npm install of the package).`,
    examples: ['completion bash', 'completion zsh'],
    input: z.object({ shell: oneOf(SHELLS) }),
    run: (output, { shell }) => {
      output.verbatim(completionScript(program, shell));
      return Promise.resolve();
    },
  })(program);
};
