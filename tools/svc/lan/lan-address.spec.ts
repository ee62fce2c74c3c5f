import type { NetworkInterfaceInfo } from 'node:os';
import { SvcError } from '../base/svc-error.ts';
import { chooseLanAddress, lanAddresses } from './lan-address.ts';

const loopback = { ...createInterface('127.0.0.1'), internal: true };

describe('the address on the network', () => {
  it('is the first address that is not internal to this machine', () => {
    const interfaces = { lo: [loopback], wlan0: [createInterface('192.168.1.5')], eth1: [createInterface('10.0.0.7')] };
    expect(chooseLanAddress(interfaces, true)).toBe('192.168.1.5');
    expect(lanAddresses(interfaces)).toEqual(['192.168.1.5', '10.0.0.7']);
  });

  it.each(['docker0', 'br-4f2a', 'veth12', 'virbr0', 'utun3', 'tailscale0', 'bridge100', 'vmnet8'])(
    'is an address of %s only if there is no other address',
    (name) => {
      const virtual = { [name]: [createInterface('172.17.0.1')] };
      expect(chooseLanAddress({ ...virtual, en0: [createInterface('192.168.1.5')] }, true)).toBe('192.168.1.5');
      expect(chooseLanAddress(virtual, true)).toBe('172.17.0.1');
    },
  );

  it('is an IPv4 address that a network assigned', () => {
    const interfaces = {
      en0: [
        { ...createInterface('fd00::2'), family: 'IPv6', scopeid: 0 } as NetworkInterfaceInfo,
        createInterface('169.254.3.4'),
      ],
      en1: [createInterface('192.168.1.5')],
    };
    expect(lanAddresses(interfaces)).toEqual(['192.168.1.5']);
  });

  it('is the configured address, if the machine has it', () => {
    const interfaces = {
      eth0: [createInterface('192.168.1.5'), createInterface('192.168.1.6')],
      docker0: [createInterface('172.17.0.1')],
    };
    for (const address of ['192.168.1.5', '192.168.1.6', '172.17.0.1'])
      expect(chooseLanAddress(interfaces, address)).toBe(address);
  });

  it.each([
    ['192.168.1.77', /192\.168\.1\.77 is not a network address of this machine; --lan takes 192\.168\.1\.5 or/],
    ['127.0.0.1', /is not a network address of this machine/],
    ['0.0.0.0', /is not a network address of this machine/],
    ['laptop.local', /laptop\.local is not an IPv4 address; --lan takes/],
    ['', /--lan= needs an address; --lan takes/],
  ])('cannot be %j', (wanted, message) => {
    const interfaces = { lo: [loopback], eth0: [createInterface('192.168.1.5'), createInterface('10.0.0.7')] };
    const choose = () => chooseLanAddress(interfaces, wanted);
    expect(choose).toThrow(SvcError);
    expect(() => withPrintedLine(choose)).toThrow(message);
  });

  it('does not exist on a machine without a network, and the error has a hint', () => {
    expect(() => withPrintedLine(() => chooseLanAddress({ lo: [loopback] }, true))).toThrow(
      /no network address.*; connect it to the network of the phone, or use .\/svc up without --lan/,
    );
  });
});

function createInterface(address: string): NetworkInterfaceInfo {
  return { address, netmask: '255.255.255.0', family: 'IPv4', mac: '02:00:00:00:00:01', internal: false, cidr: null };
}

/** Runs the action. Replaces its error by one whose message is the line that ./svc prints. */
function withPrintedLine(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    throw new Error((error as SvcError).line);
  }
}
