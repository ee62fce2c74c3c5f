import { readFileSync } from 'node:fs';
import type { Host } from '@svc/contracts';
import { IsIP, IsOptional, IsString, MaxLength, MinLength, ValidateIf } from 'class-validator';
import { ConfigError } from './config-error.js';

/**
 * The configuration of a program that also listens with TLS on another address, with the same port numbers. Phones on
 * the same network can then use it (`./svc up --lan`). In production a reverse proxy terminates TLS, and these
 * variables are not set.
 */
export class TlsListenerConfig {
  /** Address to listen on with TLS, in addition to SVC_LISTEN_ADDRESS. If not set, there is no TLS. */
  @IsOptional()
  @IsIP()
  SVC_TLS_LISTEN_ADDRESS?: string;

  /** PEM file of the certificate for that address. */
  @ValidateIf(hasTlsAddress)
  @IsString()
  @MinLength(1)
  @MaxLength(4096)
  SVC_TLS_CERTIFICATE_FILE?: string;

  /** PEM file of the certificate's private key. Only the owner of the file should be able to read it. */
  @ValidateIf(hasTlsAddress)
  @IsString()
  @MinLength(1)
  @MaxLength(4096)
  SVC_TLS_KEY_FILE?: string;
}

function hasTlsAddress(config: TlsListenerConfig): boolean {
  return config.SVC_TLS_LISTEN_ADDRESS !== undefined;
}

/** Options of a Node.js server. */
export interface TlsOptions {
  /** PEM. */
  readonly cert: string;
  /** PEM. The key is a secret. */
  readonly key: string;
  readonly handshakeTimeout: number;
}

/**
 * Longest time for a TLS handshake. Node.js's default is 120 s, during which a client that sends nothing would occupy a
 * connection.
 */
const HANDSHAKE_TIMEOUT_MS = 10_000;

/**
 * Address and certificate of the TLS listener. Undefined if TLS is not configured. Throws a ConfigError if a file
 * cannot be read.
 */
export function readTlsListener(config: TlsListenerConfig): { address: string; tls: TlsOptions } | undefined {
  const { SVC_TLS_LISTEN_ADDRESS: address, SVC_TLS_CERTIFICATE_FILE: cert, SVC_TLS_KEY_FILE: key } = config;
  if (address === undefined || cert === undefined || key === undefined) return undefined;
  return { address, tls: { cert: readTlsFile(cert), key: readTlsFile(key), handshakeTimeout: HANDSHAKE_TIMEOUT_MS } };
}

function readTlsFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new ConfigError(`${file}, configured for TLS, cannot be read.`, { cause });
  }
}

export interface Listener {
  readonly host: Host;
  readonly port: number;
  readonly address: string;
  /** Undefined for plain HTTP. */
  readonly tls: TlsOptions | undefined;
}

/**
 * The listeners of a reverse proxy: one listener on SVC_LISTEN_ADDRESS for each host. If TLS is configured, each host
 * also has a listener with TLS, except the host of the administration, which must not be reachable from the network.
 */
export function createListeners(
  ports: Readonly<Record<Host, number>>,
  config: TlsListenerConfig & { readonly SVC_LISTEN_ADDRESS: string },
): Listener[] {
  const hosts = Object.entries(ports) as [Host, number][];
  const plain = hosts.map(([host, port]) => ({ host, port, address: config.SVC_LISTEN_ADDRESS, tls: undefined }));
  const withTls = readTlsListener(config);
  if (withTls === undefined) return plain;
  return [...plain, ...hosts.filter(([host]) => host !== 'admin').map(([host, port]) => ({ host, port, ...withTls }))];
}
