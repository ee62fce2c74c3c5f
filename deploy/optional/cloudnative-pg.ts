/** PostgreSQL by the operator CloudNativePG, with backups and a pooler (operators/cloudnative-pg). */
import type { ICluster, IPooler, IScheduledBackup } from '@kubernetes-models/cloudnative-pg/postgresql.cnpg.io/v1';
import { createLabels, type DeployedApp, maxConnections } from '../apps.ts';

const CLUSTER = 'svc-postgres';
const POOLER = 'svc-postgres-pooler';
const BACKUPS = 'svc-postgres-backups';
const BACKUP_PLUGIN = 'barman-cloud.cloudnative-pg.io';
/** Connections for migrations, administrators, the operator, the pooler's own look-ups and replication. */
const RESERVED_CONNECTIONS = 60;

/** Parameters that the services send when they connect. PgBouncer refuses unknown ones. The roles have the same settings. */
export const STARTUP_PARAMETERS = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'] as const;

/** The fields of an ObjectStore of the Barman Cloud plugin that are used here. There is no package with its schema. */
export interface ObjectStore {
  readonly apiVersion: 'barmancloud.cnpg.io/v1';
  readonly kind: 'ObjectStore';
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly retentionPolicy: string;
    readonly configuration: {
      readonly destinationPath: string;
      readonly endpointURL: string;
      readonly s3Credentials: Readonly<Record<'accessKeyId' | 'secretAccessKey', { name: string; key: string }>>;
      readonly wal: { readonly compression: 'gzip' };
      readonly data: { readonly compression: 'gzip' };
    };
  };
}

export function sumConnections(apps: readonly DeployedApp[]): number {
  return apps.map(maxConnections).reduce((sum, count) => sum + count, 0);
}

/** A cluster of PostgreSQL, its backups, and a pooler. */
export function createDatabase(apps: readonly DeployedApp[]): [ICluster, ObjectStore, IScheduledBackup, IPooler] {
  return [createCluster(apps), createObjectStore(), createScheduledBackup(), createPooler(apps)];
}

const createDatabaseLabels = (name: string): Record<string, string> => createLabels(name, 'database');

function createCluster(apps: readonly DeployedApp[]): ICluster {
  return {
    apiVersion: 'postgresql.cnpg.io/v1',
    kind: 'Cluster',
    metadata: { name: CLUSTER, labels: createDatabaseLabels(CLUSTER) },
    spec: {
      instances: 3,
      // The superuser runs deploy/database/roles.sql.
      enableSuperuserAccess: true,
      bootstrap: {
        initdb: { database: 'svc', owner: 'svc_database', encoding: 'UTF8', localeCType: 'C', localeCollate: 'C' },
      },
      postgresql: {
        parameters: { max_connections: String(sumConnections(apps) + RESERVED_CONNECTIONS) },
        // A commit is on two nodes before the client gets its response, so the loss of one node loses no payment.
        synchronous: { method: 'any', number: 1, dataDurability: 'required' },
      },
      affinity: { topologyKey: 'kubernetes.io/hostname', podAntiAffinityType: 'required' },
      resources: { requests: { cpu: '2', memory: '4Gi' }, limits: { memory: '4Gi' } },
      storage: { size: '100Gi' },
      walStorage: { size: '20Gi' },
      plugins: [{ name: BACKUP_PLUGIN, isWALArchiver: true, parameters: { barmanObjectName: BACKUPS } }],
    },
  };
}

function createObjectStore(): ObjectStore {
  return {
    apiVersion: 'barmancloud.cnpg.io/v1',
    kind: 'ObjectStore',
    metadata: { name: BACKUPS, labels: createDatabaseLabels(BACKUPS) },
    spec: {
      retentionPolicy: '30d',
      configuration: {
        destinationPath: 's3://svc-postgres-backups/',
        endpointURL: 'https://object-storage.example',
        s3Credentials: {
          accessKeyId: { name: BACKUPS, key: 'ACCESS_KEY_ID' },
          secretAccessKey: { name: BACKUPS, key: 'SECRET_ACCESS_KEY' },
        },
        wal: { compression: 'gzip' },
        data: { compression: 'gzip' },
      },
    },
  };
}

function createScheduledBackup(): IScheduledBackup {
  return {
    apiVersion: 'postgresql.cnpg.io/v1',
    kind: 'ScheduledBackup',
    metadata: { name: BACKUPS, labels: createDatabaseLabels(BACKUPS) },
    spec: {
      // Each day at 01:30:00 UTC. The first field is seconds.
      schedule: '0 30 1 * * *',
      immediate: true,
      backupOwnerReference: 'self',
      cluster: { name: CLUSTER },
      method: 'plugin',
      pluginConfiguration: { name: BACKUP_PLUGIN },
    },
  };
}

function createPooler(apps: readonly DeployedApp[]): IPooler {
  return {
    apiVersion: 'postgresql.cnpg.io/v1',
    kind: 'Pooler',
    metadata: { name: POOLER, labels: createDatabaseLabels(POOLER) },
    spec: {
      cluster: { name: CLUSTER },
      instances: 2,
      type: 'rw',
      pgbouncer: {
        // The relay needs LISTEN, and prepared statements belong to a session (ADR 8, 67).
        poolMode: 'session',
        parameters: {
          max_client_conn: String(sumConnections(apps)),
          // For each role. Smaller pools would let the connections of a service wait for those of its other replicas.
          default_pool_size: String(Math.max(...apps.map(maxConnections))),
          // The operator adds `extra_float_digits` and `options`.
          ignore_startup_parameters: STARTUP_PARAMETERS.join(','),
        },
      },
    },
  };
}
