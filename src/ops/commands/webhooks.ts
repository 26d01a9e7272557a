import type { Command } from 'commander';
import { group } from '../command.js';
import { addWebhookListenCommand } from './webhooks-listen.js';

export function addWebhookCommands(program: Command): void {
  const webhooks = group(program, 'webhooks', "deliveries of events to tenants' receivers");
  addWebhookListenCommand(webhooks);
}
