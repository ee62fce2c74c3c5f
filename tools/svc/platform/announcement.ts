/** The texts that `./svc up` prints when the platform runs. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { adyenEmulatorPage } from '../demo/adyen-emulator.ts';
import { consoleUrlOf, type DemoAcquirer, pathsOf, publicUrlOf, type Settings, urlOf } from '../settings/settings.ts';
import { transformerUrl } from './transformer.ts';

/** The parts of {@link Settings} that a running platform also records. */
type Addresses = Pick<Settings, 'ports' | 'acquirer' | 'lan' | 'observe'>;

export function formatAddresses({ ports, acquirer, lan, observe }: Addresses): string {
  return [
    `  shop            ${publicUrlOf(lan, ports.shop)}`,
    `  console         ${consoleUrlOf(lan, ports.console)}`,
    `  gateway         ${publicUrlOf(lan, ports.gateway)}`,
    `  API             ${publicUrlOf(lan, ports.api)}`,
    `  administration  ${urlOf(ports.admin)}`,
    `  reference       ${publicUrlOf(lan, ports.api)}/reference`,
    `  transformer     ${transformerUrl(lan, ports)}`,
    ...(acquirer === 'adyen-emulator' ? [`  Adyen emulator  ${adyenEmulatorPage(ports)}`] : []),
    ...(observe
      ? [`  dashboards      ${urlOf(ports.dashboards)}/`, `  Prometheus      ${urlOf(ports.prometheus)}/alerts`]
      : []),
    `  PostgreSQL      127.0.0.1:${ports.postgres}`,
  ].join('\n');
}

const CARDS: Readonly<Record<DemoAcquirer, readonly string[]>> = {
  simulated: ['Next: open the shop, and pay with 4242 4242 4242 4242, any expiry date ahead and any CVV.'],
  'adyen-emulator': [
    "Next: open the shop, and pay with a test card of Adyen, expiry date 03/30 and CVV 737. Its emulator's page shows the",
    'payment, and has buttons for refunds that fail, disputes, lost responses and settlement reports.',
    '  4111 1111 1111 1111  approved; with the name DECLINED on the card, declined',
    '  4212 3456 7890 1237  3-D Secure',
  ],
};

export function nextSteps(demoFile: string, acquirer: DemoAcquirer): string {
  return [
    ...CARDS[acquirer],
    `Keys and secrets of the demo merchants and partner: ${demoFile}`,
    './svc logs -f shows the logs, ./svc status the state; ./svc down stops the platform.',
  ].join('\n');
}

export async function phoneInstructions(settings: Settings, lan: string, isTerminal: boolean): Promise<string> {
  const { api, gateway, shop, acquirer, transformer } = settings.ports;
  const url = publicUrlOf(lan, shop);
  const certificate = readFileSync(pathsOf(settings).tls.certificate);
  const { fingerprint256 } = new X509Certificate(certificate);
  // Imported here, because it needs a package, and other functions of this file run before packages are installed.
  const code = isTerminal ? `\n${(await import('../lan/terminal-qr.ts')).terminalQr(url)}\n` : '';
  return `
On a phone in the same network: ${isTerminal ? 'scan this code, or open' : 'open'} ${url}
${code}
The phone warns that the connection is not private, because the certificate is self-signed:
  Android: Advanced, then Proceed.  iPhone: Show Details, then visit this website.  It may ask once for each port.
The phone is connected to this machine if the certificate has this SHA-256 fingerprint:
  ${fingerprint256}
If a page does not load, check that the phone is in this network, not in a guest network, and that the firewall of this
machine allows the TCP ports ${api}, ${gateway}, ${shop}, ${acquirer} (the bank's page) and ${transformer} (the till). Every device in the network
can open these ports, but not administration. The till uses plain HTTP, as in a store, and needs its key
(transformerApiKey of demo.json):
  ${transformerUrl(lan, settings.ports)}/till/<siteId>#key=<key>, and /display/<siteId>#key=<key> on the customer's screen
Programs need the certificate: curl --cacert, or NODE_EXTRA_CA_CERTS, with ${pathsOf(settings).tls.certificate}
`;
}
