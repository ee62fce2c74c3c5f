/** Under which of its addresses this machine is reached from the network (`./svc up --lan`). */
import { isIPv4 } from 'node:net';
import type { NetworkInterfaceInfo } from 'node:os';
import { SvcError } from '../base/svc-error.ts';

export type Interfaces = NodeJS.Dict<NetworkInterfaceInfo[]>;

/** Of containers, virtual machines and tunnels: no phone in the room reaches those. */
const VIRTUAL = /^(docker|podman|cni|veth|virbr|br-|bridge|vmnet|vboxnet|vnic|utun|tun|tap|wg|tailscale|zt|awdl|llw)/;
/** The address that a machine assigns itself where no DHCP server answers (RFC 3927). */
const SELF_ASSIGNED = /^169\.254\./;

/** Every IPv4 address that another machine could use, those of real interfaces first. */
export function addressesOf(interfaces: Interfaces): string[] {
  const all = Object.entries(interfaces).flatMap(([name, infos = []]) =>
    infos
      .filter(({ family, internal, address }) => family === 'IPv4' && !internal && !SELF_ASSIGNED.test(address))
      .map(({ address }) => ({ address, isVirtual: VIRTUAL.test(name) })),
  );
  return all.sort((a, b) => Number(a.isVirtual) - Number(b.isVirtual)).map(({ address }) => address);
}

/**
 * @param wanted an address of this machine; true: the first there is
 * @throws SvcError when there is none, or not that one
 */
export function chooseLanAddress(interfaces: Interfaces, wanted: string | true): string {
  const [first, ...others] = addressesOf(interfaces);
  if (first === undefined) {
    throw new SvcError('this machine has no address on a network, so --lan has nothing to serve on', {
      hint: 'connect it to the network of the phone, or use ./svc up without --lan, for this machine alone',
    });
  }
  if (wanted === true || wanted === first || others.includes(wanted)) return wanted === true ? first : wanted;
  const what = isIPv4(wanted) ? 'is not an address of this machine on a network' : 'is not an IPv4 address';
  throw new SvcError(wanted === '' ? '--lan= names no address' : `${wanted} ${what}`, {
    hint: `--lan takes ${[first, ...others].join(' or ')}; without =, the first of them`,
    exitCode: 2,
  });
}
