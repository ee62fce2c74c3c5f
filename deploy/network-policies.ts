/**
 * Creates the network policies of the apps. network/network.yaml refuses all connections except DNS. The policy of an
 * app allows the connections in its description. Gateways, databases and brokers run in other namespaces, which have a
 * label that the platform team sets.
 */
import type {
  INetworkPolicy,
  INetworkPolicyEgressRule,
  INetworkPolicyPeer,
  INetworkPolicyPort,
} from 'kubernetes-models/networking.k8s.io/v1';
import { ROUTES } from '../libs/contracts/src/routes.ts';
import { createLabels, type DeployedApp, type Destination, PORT } from './apps.ts';

/**
 * Addresses that no merchant's server can have. webhook-dispatcher refuses them too (E7); the policy is a second
 * protection.
 */
const NON_PUBLIC_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/3',
];

const PUBLIC_ADDRESSES: INetworkPolicyPeer[] = [
  { ipBlock: { cidr: '0.0.0.0/0', except: NON_PUBLIC_IPV4 } },
  { ipBlock: { cidr: '2000::/3' } },
];

export function createNetworkPolicy(
  app: Pick<DeployedApp, 'name' | 'connectsTo'> & { readonly component: string },
  callers: readonly DeployedApp[],
): INetworkPolicy {
  const allowedPeers = [
    ...(ROUTES.some((route) => route.app === app.name) ? [namespacePeer('svc-payments/gateway')] : []),
    ...callers.map((caller) => podPeer(caller.name)),
  ];
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: app.name, labels: createLabels(app.name, app.component) },
    spec: {
      podSelector: { matchLabels: { 'app.kubernetes.io/name': app.name } },
      policyTypes: ['Ingress', 'Egress'],
      // Without the field, all connections in this direction are refused. The API server removes an empty list, so each
      // comparison with the cluster would show a difference.
      ...(allowedPeers.length === 0 ? {} : { ingress: [{ from: allowedPeers, ports: tcpPorts(PORT) }] }),
      ...(app.connectsTo.length === 0 ? {} : { egress: app.connectsTo.map(createEgressRule) }),
    },
  };
}

/** Allows what an app of the platform connects to in a demonstration. */
export function createDemoPolicy({ name, inDemo }: DeployedApp): INetworkPolicy {
  const policyName = `${name}-in-demo`;
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: policyName, labels: createLabels(policyName, 'demo') },
    spec: {
      podSelector: { matchLabels: { 'app.kubernetes.io/name': name } },
      policyTypes: ['Egress'],
      egress: (inDemo?.connectsTo ?? []).map(createEgressRule),
    },
  };
}

/** Finds the apps that connect to this app. */
export function findCallers(app: DeployedApp, apps: readonly DeployedApp[]): DeployedApp[] {
  return apps.filter(({ connectsTo, inDemo }) =>
    [...connectsTo, ...(inDemo?.connectsTo ?? [])].some((to) => typeof to === 'object' && to.app === app.name),
  );
}

/** Allows all pods of the platform to send telemetry to collectors, by OTLP over HTTP. */
export function createTelemetryPolicy(): INetworkPolicy {
  return createEgressPolicy('allow-telemetry', [
    { to: [namespacePeer('svc-payments/telemetry')], ports: tcpPorts(4318) },
  ]);
}

/** Address of NodeLocal DNSCache on each node. It is no pod of kube-system, so a rule by namespace does not include it. */
const NODE_LOCAL_DNS = '169.254.20.10/32';

/** Allows DNS requests of all pods to the cache on their node. */
export function createNodeLocalDnsPolicy(): INetworkPolicy {
  return createEgressPolicy('allow-node-local-dns', [
    {
      to: [{ ipBlock: { cidr: NODE_LOCAL_DNS } }],
      ports: [{ protocol: 'UDP', port: 53 }, ...tcpPorts(53)],
    },
  ]);
}

/** Allows the apps that send e-mails to reach an SMTP server on the internet. */
export function createMailPolicy(): INetworkPolicy {
  return createEgressPolicy('allow-mail', [{ to: PUBLIC_ADDRESSES, ports: tcpPorts(465, 587) }], {
    matchExpressions: [
      { key: 'app.kubernetes.io/name', operator: 'In', values: ['console', 'hosted-gateway', 'identity'] },
    ],
  });
}

function createEgressPolicy(
  name: string,
  egress: INetworkPolicyEgressRule[],
  podSelector: NonNullable<INetworkPolicy['spec']>['podSelector'] = {},
): INetworkPolicy {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name, labels: createLabels(name, 'platform') },
    spec: { podSelector, policyTypes: ['Egress'], egress },
  };
}

function createEgressRule(destination: Destination): INetworkPolicyEgressRule {
  if (destination === 'postgresql') return { to: [namespacePeer('svc-payments/postgresql')], ports: tcpPorts(5432) };
  if (destination === 'rabbitmq') return { to: [namespacePeer('svc-payments/rabbitmq')], ports: tcpPorts(5672, 5671) };
  if (destination === 'internet') return { to: PUBLIC_ADDRESSES, ports: tcpPorts(443, 8443) };
  return { to: [podPeer(destination.app)], ports: tcpPorts(PORT) };
}

function namespacePeer(label: string): INetworkPolicyPeer {
  return { namespaceSelector: { matchLabels: { [label]: 'true' } } };
}

function podPeer(app: string): INetworkPolicyPeer {
  return { podSelector: { matchLabels: { 'app.kubernetes.io/name': app } } };
}

function tcpPorts(...ports: number[]): INetworkPolicyPort[] {
  return ports.map((port) => ({ protocol: 'TCP', port }));
}
