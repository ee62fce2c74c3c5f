import { parseArgs } from 'node:util';
import { SvcError } from './base/svc-error.ts';
import type { Mode } from './platform/services.ts';
import { DEMO_ACQUIRERS, type DemoAcquirer } from './settings/settings.ts';

export type Command =
  | { name: 'help' }
  | { name: 'up'; detach: boolean; mode: Mode; acquirer: DemoAcquirer; observe?: true; lan?: string | true }
  | { name: 'restart'; app: string | undefined }
  | { name: 'down' }
  | { name: 'status' }
  | { name: 'logs'; follow: boolean; service: string | undefined }
  | { name: 'test'; args: string[] }
  | { name: 'bench'; args: string[] }
  | { name: 'demo' }
  | { name: 'admin'; args: string[] }
  | { name: 'nx'; args: string[] }
  | { name: 'npm'; args: string[] };

export const HELP = `usage: ./svc <command>

  up [-d]              installs, builds, starts PostgreSQL and all services, and shows their logs; Ctrl-C stops them
                       -d: returns when everything is ready
     --distributed     starts a process for each service, over RabbitMQ, behind a reverse proxy, on the same data; needs
                       ./svc down first when the platform runs in another mode
     --rabbitmq        starts all services in one process, but over RabbitMQ
     --acquirer name   the acquirer of the demo merchants: simulated (default), or adyen-emulator, an emulator of Adyen
                       that is made from its published interface. Existing payments keep their acquirer
     --lan[=address]   also serves over HTTPS on this machine's address in the network, for a phone in that network, and
                       prints the shop's QR code; administration stays on this machine. The certificate is self-signed:
                       the phone warns until "visit this website anyway" is chosen. Every device in that network can
                       open the shop
     --observe         also starts Prometheus, with the metrics of all programs, the alerts, the objectives and dashboards
                       (deploy/observability), and prints its address
  restart [app]        restarts one app of --distributed, or each service in turn, while the others continue to serve
  down                 stops the services, RabbitMQ and PostgreSQL; the data stays
  status               shows processes, addresses and health (exit code 1 when not healthy)
  logs [-f] [service]  shows the services' logs, formatted; -f follows; also "postgres" and "rabbitmq"
  demo env             prints the demo's addresses and credentials for a shell: eval "$(./svc demo env)"
  admin [command]      creates partners and merchants, creates and revokes keys; without a command: lists the commands
  test [jest options]  runs all tests: unit, integration on PostgreSQL 18 and 15 and on RabbitMQ, browser; with options
                       of Jest only the selected ones, on PostgreSQL 18
  bench [part] [--rounds n] [--seconds n] [--scale n] [--against commit]
                       measures one part, or all: start, payments, pages, acquirers, stuck-acquirer, tracing, webhooks,
                       checkout, history, retrieval, card-testing; --against also measures payments, pages and webhooks
                       of that commit; --scale 0.1 makes a tenth of the attempts of card-testing. Writes
                       .data/bench/report.md. Takes three quarters of an hour on an otherwise idle machine
  nx ...               runs Nx on the right Node.js. ./svc nx serve hosted-gateway runs one app from its sources in
                       place of the app of ./svc up --distributed, and restarts it when they change
  npm ...              runs npm on the right Node.js, for example: ./svc npm run lint
  help                 prints this text

environment variables
  SVC_PORT_BASE   first port (7300): API +0, gateway +1, shop +2, administration +3, acquirer +4,
                  the till's transformer +5, Adyen's emulator +6, console +7, dashboards +8, Prometheus +31, PostgreSQL +32, RabbitMQ +33
  SVC_DATA_DIR    folder for data, logs and secrets (.data)
  SVC_AMQP_URL    an existing RabbitMQ (or AMQP_URL); default: rabbitmq-server of this machine, Docker, or installed
                  with apt-get as root
  SVC_RABBITMQ_MANAGEMENT_URL
                  with SVC_AMQP_URL: its management API with an administrator's login, http://user:password@host:15672.
                  ./svc then creates a user for each service; without it all services share the login of SVC_AMQP_URL
  SVC_ADMIN_URL   the administration API of another platform, for ./svc admin
  SVC_OPERATOR_KEY
                  your own key for the administration API; default: the shared key, until an operator has a key
  SVC_PATIENCE    factor for all timeouts, 1 to 20 (1; 5 in a run of all tests and where CI is set)
  SVC_CHROMIUM    the browser for the tests; default: found on the PATH, or installed with apt-get as root
`;

const FLAG = { type: 'boolean', default: false } as const;
const UP_OPTIONS = {
  detach: { ...FLAG, short: 'd' },
  distributed: FLAG,
  rabbitmq: FLAG,
  acquirer: { type: 'string', default: DEMO_ACQUIRERS[0] },
  lan: { type: 'string' },
  observe: FLAG,
} as const;
const LOGS_OPTIONS = { follow: { ...FLAG, short: 'f' } } as const;

const USAGE = {
  up: 'up [-d] [--distributed | --rabbitmq] [--acquirer name] [--lan[=address]] [--observe]',
  restart: 'restart [app]',
  down: 'down',
  status: 'status',
  logs: 'logs [-f] [service]',
  demo: 'demo env',
};
/** Another parser reads all words after these commands, also --help. */
const PASSED_TO_PROGRAMS = ['admin', 'test', 'bench', 'nx', 'npm'] as const;

/** @throws SvcError with exit code 2 */
export function parseCommand(args: readonly string[]): Command {
  const [name, ...rest] = args;
  const program = PASSED_TO_PROGRAMS.find((known) => known === name);
  if (program !== undefined) return { name: program, args: rest };
  if (name === undefined || name === 'help' || [name, ...rest].some((word) => word === '--help' || word === '-h'))
    return { name: 'help' };
  if (!(name in USAGE)) {
    const known = [...Object.keys(USAGE), ...PASSED_TO_PROGRAMS, 'help'];
    throw new SvcError(`there is no command "${name}"`, { hint: `there are ${known.join(', ')}`, exitCode: 2 });
  }
  try {
    return parseOptions(name as keyof typeof USAGE, rest);
  } catch (error) {
    const [message] = (error as Error).message.split('. ');
    const hint = `usage: ./svc ${USAGE[name as keyof typeof USAGE]}`;
    throw new SvcError(`"${name}": ${message}`, { hint, exitCode: 2, cause: error });
  }
}

function parseOptions(name: keyof typeof USAGE, rest: readonly string[]): Command {
  const readOptionalWord = (words: readonly string[]): string | undefined => {
    if (words.length > 1) throw new Error(`unexpected word "${words[1]}"`);
    return words[0];
  };
  switch (name) {
    case 'up': {
      // parseArgs does not support an optional value, so `--lan` without an address becomes `--lan=any`.
      const args = rest.map((word) => (word === '--lan' ? '--lan=any' : word));
      const {
        detach,
        distributed,
        rabbitmq,
        lan,
        observe,
        acquirer: chosen,
      } = parseArgs({ args, options: UP_OPTIONS }).values;
      if (distributed && rabbitmq) throw new Error('use either --distributed or --rabbitmq');
      const mode = distributed ? 'distributed' : rabbitmq ? 'rabbitmq' : 'embedded';
      const acquirer = DEMO_ACQUIRERS.find((known) => known === chosen);
      if (acquirer === undefined)
        throw new Error(`there is no acquirer "${chosen}": use ${DEMO_ACQUIRERS.join(' or ')}`);
      return {
        name,
        detach,
        mode,
        acquirer,
        ...(observe ? { observe } : {}),
        ...(lan === undefined ? {} : { lan: lan === 'any' ? true : lan }),
      };
    }
    case 'logs': {
      const { values, positionals } = parseArgs({ args: [...rest], options: LOGS_OPTIONS, allowPositionals: true });
      return { name, follow: values.follow, service: readOptionalWord(positionals) };
    }
    case 'restart':
      return { name, app: readOptionalWord(parseArgs({ args: [...rest], allowPositionals: true }).positionals) };
    case 'demo':
      if (rest.join(' ') !== 'env') throw new Error('the subcommand is env: eval "$(./svc demo env)"');
      return { name };
    default:
      parseArgs({ args: [...rest] });
      return { name };
  }
}
