/** The network address of this machine for `./svc up --lan`. */
import { isIPv4 } from 'node:net';
import type { NetworkInterfaceInfo } from 'node:os';
import { SvcError } from '../base/svc-error.ts';

type Interfaces = NodeJS.Dict<NetworkInterfaceInfo[]>;

/** Interfaces of containers, virtual machines and tunnels: a phone in the same network cannot reach them. */
const VIRTUAL = /^(docker|podman|cni|veth|virbr|br-|bridge|vmnet|vboxnet|vnic|utun|tun|tap|wg|tailscale|zt|awdl|llw)/;
/** A machine assigns itself such an address when no DHCP server responds (RFC 3927). */
const SELF_ASSIGNED = /^169\.254\./;

/** All IPv4 addresses at which other machines can reach this machine. Addresses of physical interfaces are first. */
export function lanAddresses(interfaces: Interfaces): string[] {
  const all = Object.entries(interfaces).flatMap(([name, infos = []]) =>
    infos
      .filter(({ family, internal, address }) => family === 'IPv4' && !internal && !SELF_ASSIGNED.test(address))
      .map(({ address }) => ({ address, isVirtual: VIRTUAL.test(name) })),
  );
  return all.sort((a, b) => Number(a.isVirtual) - Number(b.isVirtual)).map(({ address }) => address);
}

/**
 * @param wanted an address of this machine, or true for the first address
 * @throws SvcError when the machine does not have it
 */
export function chooseLanAddress(interfaces: Interfaces, wanted: string | true): string {
  const [first, ...others] = lanAddresses(interfaces);
  if (first === undefined) {
    throw new SvcError('this machine has no network address for --lan', {
      hint: 'connect it to the network of the phone, or use ./svc up without --lan, for this machine alone',
    });
  }
  if (wanted === true || wanted === first || others.includes(wanted)) return wanted === true ? first : wanted;
  const problem = isIPv4(wanted) ? 'is not a network address of this machine' : 'is not an IPv4 address';
  throw new SvcError(wanted === '' ? '--lan= needs an address' : `${wanted} ${problem}`, {
    hint: `--lan takes ${[first, ...others].join(' or ')}; without =, the first of them`,
    exitCode: 2,
  });
}
