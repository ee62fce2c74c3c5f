import { randomBytes } from 'node:crypto';

const REQUEST_TIMEOUT_MS = 30_000;
const POLICY = 'limited-queue';

/** Regular expressions for the names of queues and exchanges, and for the routing keys of topic exchanges. */
interface RabbitMqPermissions {
  readonly configure: string;
  readonly write: string;
  readonly read: string;
  readonly topics: readonly { readonly exchange: string; readonly write: string; readonly read: string }[];
}

/**
 * A virtual host on the RabbitMQ that all tests share, created through the management API. A test that kills the server
 * or changes its users needs a `PrivateRabbitMq`, whose start takes seconds.
 */
export class VirtualHost {
  private readonly users = new Set<string>();

  private constructor(
    private readonly name: string,
    /** URL of the virtual host, with the login of an administrator. */
    readonly url: string,
  ) {}

  static async create(): Promise<VirtualHost> {
    const name = `test-${randomBytes(6).toString('hex')}`;
    const url = new URL(requireSetting('SVC_TEST_AMQP_URL'));
    url.pathname = name;
    await manage('PUT', `vhosts/${name}`);
    const everything = { configure: '.*', write: '.*', read: '.*' };
    await manage('PUT', `permissions/${name}/${url.username}`, everything);
    return new VirtualHost(name, url.href);
  }

  /** Creates a user of this virtual host, or changes its permissions. Returns the URL with its login. */
  async allow(login: string, permissions: RabbitMqPermissions): Promise<string> {
    const user = `${this.name}-${login}`;
    const url = new URL(this.url);
    [url.username, url.password] = [user, 'secret'];
    if (!this.users.has(user)) await manage('PUT', `users/${user}`, { password: 'secret', tags: '' });
    this.users.add(user);
    const { topics, ...queues } = permissions;
    await manage('PUT', `permissions/${this.name}/${user}`, queues);
    for (const topic of topics) await manage('PUT', `topic-permissions/${this.name}/${user}`, topic);
    return url.href;
  }

  /** Limits the number of messages in the queue, so that the queue rejects messages when it is full. */
  async limitQueueLength(queue: string, length: number): Promise<void> {
    const policy = { pattern: `^${queue}$`, definition: { 'max-length': length }, 'apply-to': 'queues' };
    await manage('PUT', `policies/${this.name}/${POLICY}`, policy);
  }

  async removeLengthLimit(): Promise<void> {
    await manage('DELETE', `policies/${this.name}/${POLICY}`);
  }

  /** Deletes the virtual host with its queues, also if connections to it are open. */
  async stop(): Promise<void> {
    for (const user of this.users) await manage('DELETE', `users/${user}`);
    await manage('DELETE', `vhosts/${this.name}`);
  }
}

async function manage(method: 'PUT' | 'DELETE', path: string, body: object = {}): Promise<void> {
  const { origin, username, password } = new URL(requireSetting('SVC_TEST_RABBITMQ_MANAGEMENT_URL'));
  const response = await fetch(`${origin}/api/${path}`, {
    method,
    headers: { authorization: `Basic ${btoa(`${username}:${password}`)}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  if (!response.ok) throw new Error(`RabbitMQ responded to ${method} ${path} with ${response.status}.`);
}

function requireSetting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`No RabbitMQ to test on: run the tests with ./svc test, or set ${name}.`);
  return value;
}
