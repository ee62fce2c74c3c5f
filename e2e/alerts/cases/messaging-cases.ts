/** Alerts of RabbitMQ, relays and consumers. */
import { randomUUID } from 'node:crypto';
import { letTimePass, waitUntil } from '@svc/testing';
import { connect } from 'amqplib';
import { createSessions, gatewayClient } from '../../callers/merchant.js';
import { rabbitmqctl } from '../../platform/rabbitmqctl.js';
import type { AlertCase, Caused } from '../alert-case.js';
import type { AlertDrill } from '../alert-drill.js';

/** Changes the merchant's name, which every service copies. */
async function rename(drill: AlertDrill): Promise<void> {
  const { merchantId } = drill.platform.site(0, 0).merchant;
  await drill.admin('merchants', 'rename', String(merchantId), `Drill ${randomUUID().slice(0, 8)}`);
}

async function killRabbitMq({ platform }: AlertDrill): Promise<Caused> {
  await platform.kill(platform.rabbitMqPid);
  return {
    isBrokerDown: true,
    repair: () => platform.up(),
    afterwards: async () => {
      // The command of the runbook needs a node that runs.
      await rabbitmqctl(platform, 'cluster_status');
    },
  };
}

/** A trigger that makes the handlers of console fail, which copies all payments. */
const FAILING = `
  CREATE OR REPLACE FUNCTION console.refuse_in_drill() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the drill'; END $$;
  CREATE OR REPLACE TRIGGER refuse_in_drill BEFORE INSERT OR UPDATE ON console.payments FOR EACH ROW EXECUTE FUNCTION console.refuse_in_drill()`;

export const MESSAGING_CASES: readonly AlertCase[] = [
  {
    alert: 'SvcBrokerUnreachable',
    how: 'RabbitMQ is killed',
    cause: killRabbitMq,
  },
  {
    alert: 'SvcRelayLate',
    how: 'RabbitMQ is killed, and identity has an event for more than a minute',
    cause: async (drill) => {
      const caused = await killRabbitMq(drill);
      await rename(drill);
      return caused;
    },
  },
  {
    alert: 'SvcNoHeartbeat',
    how: 'identity is frozen for more than 30 s (SIGSTOP)',
    cause: (drill) => {
      drill.freeze('identity');
      return Promise.resolve({
        repair: () => drill.thaw('identity'),
        afterwards: () => drill.platform.svc('restart', 'identity'),
      });
    },
  },
  {
    alert: 'SvcBrokerRefusesType',
    how: 'the user of identity may no longer publish events',
    cause: async (drill) => {
      await rabbitmqctl(drill.platform, 'set_topic_permissions', 'svc-identity', 'svc.events', '^none$', '^none$');
      await rename(drill);
      return {};
    },
  },
  {
    alert: 'SvcBrokerDeadLetters',
    how: 'code-decoder publishes an unreadable message',
    cause: async (drill) => {
      const connection = await connect(drill.variable('code-decoder', 'SVC_AMQP_URL'));
      const channel = await connection.createConfirmChannel();
      channel.publish('svc.events', 'code-decoder.administered.v1', Buffer.from('{'), {
        persistent: true,
        userId: 'svc-code-decoder',
      });
      await channel.waitForConfirms();
      await connection.close();
      return { values: { SERVICE: 'identity' } };
    },
  },
  {
    alert: 'SvcConsumerDeadLetters',
    how: 'a trigger makes each write of console fail, and a payment is made',
    cause: async (drill) => {
      await drill.platform.sql(FAILING);
      await drill.pay();
      return {
        values: { SERVICE: 'console' },
        repair: () =>
          drill.platform.sql(
            'DROP TRIGGER refuse_in_drill ON console.payments; DROP FUNCTION console.refuse_in_drill()',
          ),
      };
    },
  },
  {
    alert: 'SvcConsumerDeferred',
    how: 'a transaction locks the payments of console, and a payment is made',
    cause: async (drill) => {
      // An ACCESS EXCLUSIVE lock would have a transaction id, which holds back the relay, so that no message arrives.
      const holder = await drill.openTransaction('LOCK TABLE console.payments IN EXCLUSIVE MODE');
      await drill.pay();
      return { values: { pid: holder.pid }, repair: () => holder.end() };
    },
  },
  {
    alert: 'SvcWebhooksLate',
    how: 'the endpoint of a merchant fails, until its circuit is open for more than a minute',
    cause: async (drill) => {
      await failWebhooks(drill);
      return { repair: () => acceptWebhooks(drill) };
    },
  },
  {
    alert: 'SvcWebhooksNotWithinAMinute',
    how: 'webhooks are recorded while the circuit of their endpoint is open for more than a minute',
    cause: async (drill) => {
      await failWebhooks(drill);
      const late = await drill.prepare(3);
      await drill.send(late);
      await letTimePass(65_000);
      await acceptWebhooks(drill);
      return {};
    },
  },
  {
    alert: 'SvcWebhooksUnsigned',
    how: 'the only webhook secret of a site is revoked, and a payment is made',
    cause: async (drill) => {
      const demoSite = drill.platform.site(1, 0);
      const site = `${demoSite.merchant.merchantId}/${demoSite.siteId}`;
      // The server of the merchant does not verify the signature of the new secret. A session needs a secret at its creation.
      const [session] = await createSessions(gatewayClient(drill.platform, demoSite), 1, drill.acceptingUrl);
      const request = await drill.preparePage(session!.redirectUrl);
      const listed = await drill.admin('webhook-secrets', 'list', site, '--json');
      const secrets = JSON.parse(listed) as { secretId: string; mode: string; revokedUTCDate?: string | null }[];
      for (const { secretId, mode } of secrets)
        if (mode === 'test') await drill.admin('webhook-secrets', 'revoke', site, secretId);
      await drill.paySuccessfully(request);
      return { values: { SITE: site } };
    },
  },
];

/** The endpoint answers 500 until its circuit is open. */
async function failWebhooks(drill: AlertDrill): Promise<void> {
  drill.answer = 500;
  await waitUntil('the circuit of the endpoint', 60_000, async () => {
    await drill.send(await drill.prepare(2));
    const rows = await drill.platform.sql(`SELECT 1 FROM webhook_dispatcher.circuits WHERE open_until > now()`);
    return rows.length > 0;
  });
}

/** Time is moved: the next probe of the endpoint is due now, instead of within five minutes. */
async function acceptWebhooks(drill: AlertDrill): Promise<void> {
  drill.answer = 200;
  await drill.platform.sql(`UPDATE webhook_dispatcher.circuits SET open_until = now() WHERE open_until IS NOT NULL`);
}
