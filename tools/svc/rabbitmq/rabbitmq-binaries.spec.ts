import { findReason } from './rabbitmq.ts';
import { findRabbitMqBinaries } from './rabbitmq-binaries.ts';
import { containerArguments } from './rabbitmq-container.ts';

describe('the RabbitMQ of ./svc', () => {
  const createFileCheck =
    (...files: string[]) =>
    (file: string) =>
      files.includes(file);

  it('is the server of the Debian package, not the wrapper of the same name on the PATH', () => {
    const isProgram = createFileCheck(
      '/usr/sbin/rabbitmq-server',
      '/usr/lib/rabbitmq/bin/rabbitmq-server',
      '/usr/bin/epmd',
    );
    expect(findRabbitMqBinaries('/usr/sbin', isProgram)).toEqual({
      server: '/usr/lib/rabbitmq/bin/rabbitmq-server',
      epmd: '/usr/bin/epmd',
    });
  });

  it('is the program on the PATH when no Debian package is installed', () => {
    const isProgram = createFileCheck('/opt/brew/sbin/rabbitmq-server', '/opt/brew/bin/epmd');
    expect(findRabbitMqBinaries('/opt/brew/sbin:/opt/brew/bin', isProgram)).toEqual({
      server: '/opt/brew/sbin/rabbitmq-server',
      epmd: '/opt/brew/bin/epmd',
    });
  });

  it('is not found when the name server of Erlang is missing', () => {
    expect(findRabbitMqBinaries('/opt', createFileCheck('/opt/rabbitmq-server'))).toBeUndefined();
  });

  it('runs in a container on the loopback interface, without its password on the command line', () => {
    const words = containerArguments('svc-rabbitmq-1', { port: 7333 });
    expect(words).toContain('127.0.0.1:7333:5672');
    expect(words.slice(words.indexOf('--env'))).toEqual([
      '--env',
      'RABBITMQ_DEFAULT_USER',
      '--env',
      'RABBITMQ_DEFAULT_PASS',
      words.at(-1),
    ]);
  });

  it.each([
    ['2026-11-21 01:00:25.5+00:00 [error] <0.4.0> Failed in ranch_tcp:listen for reason eaddrinuse', /port is in use/],
    ['BOOT FAILED\n2026-11-21 01:00:25.5+00:00 [error] <0.4.0> write failed: enospc\nterminating', /enospc/],
    ['ERROR: epmd error for host svc: nxdomain\nmore', /^ERROR: epmd error/],
    ['BOOT FAILED\n===========\nERROR: epmd error for host svc: timeout', /^ERROR: epmd error/],
    ['BOOT FAILED\n===========\nException during startup:\nexit:{boot,timeout}\nmore', /^Exception during .*timeout/],
  ])('reports why it did not start when its output is %j', (output, reason) => {
    expect(findReason(output)).toMatch(reason);
  });
});
