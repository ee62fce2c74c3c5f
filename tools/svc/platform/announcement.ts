/** The output of `./svc up` when the platform runs: addresses, and what to do next. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { pathsOf, publicUrlOf, urlOf, type Ports, type Settings } from '../base/settings.ts';
import { transformerUrlOf } from './transformer.ts';

/** The addresses of one copy, a line for each; of public hosts those on the network, where they are served there. */
export function addresses(ports: Ports, lan: string | undefined): string {
  return [
    `  shop            ${publicUrlOf(lan, ports.shop)}`,
    `  gateway         ${publicUrlOf(lan, ports.gateway)}`,
    `  API             ${publicUrlOf(lan, ports.api)}`,
    `  administration  ${urlOf(ports.admin)}`,
    `  reference       ${publicUrlOf(lan, ports.api)}/reference`,
    `  transformer     ${transformerUrlOf(lan, ports)}`,
    `  PostgreSQL      127.0.0.1:${ports.postgres}`,
  ].join('\n');
}

export function nextSteps(demoFile: string): string {
  return [
    'Next: open the shop, and pay with 4242 4242 4242 4242, any expiry date ahead and any CVV.',
    `Keys and secrets of the demo merchants and partner: ${demoFile}`,
    './svc logs -f shows the logs, ./svc status what runs, ./svc down stops it.',
  ].join('\n');
}

/** How a phone gets there, and what it will ask. The code is for terminals: a file has no use for it. */
export async function phoneInstructions(settings: Settings, lan: string, isTerminal: boolean): Promise<string> {
  const { api, gateway, shop, acquirer, transformer } = settings.ports;
  const url = publicUrlOf(lan, shop);
  const certificate = readFileSync(pathsOf(settings).tls.certificate);
  const { fingerprint256 } = new X509Certificate(certificate);
  // A package, which is installed by now; the rest of this file is needed before that.
  const code = isTerminal ? `\n${(await import('../lan/terminal-qr.ts')).terminalQr(url)}\n` : '';
  return `
On a phone in the same network: ${isTerminal ? 'point its camera at this, or open' : 'open'} ${url}
${code}
It warns that the connection is not private, because nobody it knows vouches for a certificate that was made here:
  Android: Advanced, then Proceed.  iPhone: Show Details, then visit this website.  It may ask once for each port.
It is talking to this machine if the certificate it shows has this SHA-256 fingerprint:
  ${fingerprint256}
A page that does not load: is the phone in this network, and not its guest network? Does a firewall on this machine let in
TCP ports ${api}, ${gateway}, ${shop}, ${acquirer} (the bank's page) and ${transformer} (the till)? Anybody in the network can open these; not
administration. The till speaks plain HTTP, as in a store, and only with its key (transformerApiKey of demo.json):
  ${transformerUrlOf(lan, settings.ports)}/till/<siteId>#key=<key>, and /display/<siteId>#key=<key> on the customer's screen
Programs that use these addresses: curl --cacert, or NODE_EXTRA_CA_CERTS, with ${pathsOf(settings).tls.certificate}
`;
}
