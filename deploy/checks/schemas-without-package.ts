/**
 * The fields of objects whose schema is in no package, by the definitions of their operators. Only the fields that deploy/
 * uses are listed; any other field is a problem.
 */
type FieldTypes = Readonly<Record<string, 'string' | 'number' | 'boolean'>>;

const METADATA: FieldTypes = {
  'metadata.name': 'string',
  'metadata.namespace': 'string',
  'metadata.labels.*': 'string',
};

/** By API version and kind. `[]` is an element of a list, `*` any key. */
const FIELDS: Readonly<Record<string, FieldTypes>> = {
  // github.com/rabbitmq/cluster-operator, api/v1beta1/rabbitmqcluster_types.go
  'rabbitmq.com/v1beta1 RabbitmqCluster': {
    'spec.replicas': 'number',
    'spec.persistence.storage': 'string',
    'spec.resources.requests.*': 'string',
    'spec.resources.limits.*': 'string',
    'spec.tls.secretName': 'string',
    'spec.tls.disableNonTLSListeners': 'boolean',
    'spec.rabbitmq.additionalConfig': 'string',
    'spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[].topologyKey': 'string',
    'spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[].labelSelector.matchLabels.*':
      'string',
  },
  // github.com/cloudnative-pg/plugin-barman-cloud, config/crd/bases/barmancloud.cnpg.io_objectstores.yaml
  'barmancloud.cnpg.io/v1 ObjectStore': {
    'spec.retentionPolicy': 'string',
    'spec.configuration.destinationPath': 'string',
    'spec.configuration.endpointURL': 'string',
    'spec.configuration.s3Credentials.accessKeyId.name': 'string',
    'spec.configuration.s3Credentials.accessKeyId.key': 'string',
    'spec.configuration.s3Credentials.secretAccessKey.name': 'string',
    'spec.configuration.s3Credentials.secretAccessKey.key': 'string',
    'spec.configuration.wal.compression': 'string',
    'spec.configuration.data.compression': 'string',
  },
  // github.com/cilium/cilium, pkg/policy/api
  'cilium.io/v2 CiliumNetworkPolicy': {
    'spec.endpointSelector.matchLabels.*': 'string',
    'spec.egress[].toEndpoints[].matchLabels.*': 'string',
    'spec.egress[].toFQDNs[].matchName': 'string',
    'spec.egress[].toFQDNs[].matchPattern': 'string',
    'spec.egress[].toPorts[].ports[].port': 'string',
    'spec.egress[].toPorts[].ports[].protocol': 'string',
    'spec.egress[].toPorts[].rules.dns[].matchPattern': 'string',
  },
};

/** Returns false if the kind is not listed. @throws Error that names the first unknown field, or a value of a wrong type */
export function validateWithoutPackage(object: { apiVersion?: string; kind?: string }): boolean {
  const { apiVersion, kind, ...content } = object;
  const fields = FIELDS[`${apiVersion} ${kind}`];
  if (fields === undefined) return false;
  const known = { ...METADATA, ...fields };
  for (const [path, value] of listValues(content)) {
    const type = known[path] ?? known[path.replace(ANY_KEY, '$1*')];
    if (type === undefined) throw new Error(`${path} is not a known field`);
    if (typeof value !== type) throw new Error(`${path} must be a ${type}`);
  }
  return true;
}

/** Keys of labels and of resources, which may contain dots. */
const ANY_KEY = /((?:labels|matchLabels|requests|limits)\.).+$/;

function listValues(value: unknown, path = ''): [string, unknown][] {
  if (Array.isArray(value)) return value.flatMap((item) => listValues(item, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [[path, value]];
  return Object.entries(value).flatMap(([key, item]) => listValues(item, path === '' ? key : `${path}.${key}`));
}
