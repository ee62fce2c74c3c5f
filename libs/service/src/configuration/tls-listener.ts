import { readFileSync } from 'node:fs';
import type { Host } from '@svc/contracts';
import { IsIP, IsOptional, IsString, MaxLength, MinLength, ValidateIf } from 'class-validator';
import { ConfigError } from './config-error.js';

/**
 * A program that also listens with TLS, on another address and with the same port numbers as on loopback: for phones on the same
 * network (`./svc up --lan`). In production TLS ends in front of the programs, and none of this is set.
 */
export class TlsListenerConfig {
  /** Address to listen on with TLS, in addition to SVC_LISTEN_ADDRESS. If not set, there is no TLS. */
  @IsOptional()
  @IsIP()
  SVC_TLS_LISTEN_ADDRESS?: string;

  /** PEM file of the certificate for that address. */
  @ValidateIf(wantsTls)
  @IsString()
  @MinLength(1)
  @MaxLength(4096)
  SVC_TLS_CERTIFICATE_FILE?: string;

  /** PEM file of the certificate's private key; readable by its owner alone. */
  @ValidateIf(wantsTls)
  @IsString()
  @MinLength(1)
  @MaxLength(4096)
  SVC_TLS_KEY_FILE?: string;
}

function wantsTls(config: TlsListenerConfig): boolean {
  return config.SVC_TLS_LISTEN_ADDRESS !== undefined;
}

/** Options of a Node.js server. */
export interface TlsOptions {
  /** PEM. */
  readonly cert: string;
  /** PEM; a secret. */
  readonly key: string;
  readonly handshakeTimeout: number;
}

/** The time a client has for the head of a request: Node.js's default of 120 s would keep a silent client that long. */
const HANDSHAKE_TIMEOUT_MS = 10_000;

/** Address and certificate of the TLS listener; undefined where it is not configured. Throws ConfigError. */
export function tlsListenerOf(config: TlsListenerConfig): { address: string; tls: TlsOptions } | undefined {
  const { SVC_TLS_LISTEN_ADDRESS: address, SVC_TLS_CERTIFICATE_FILE: cert, SVC_TLS_KEY_FILE: key } = config;
  if (address === undefined || cert === undefined || key === undefined) return undefined;
  return { address, tls: { cert: read(cert), key: read(key), handshakeTimeout: HANDSHAKE_TIMEOUT_MS } };
}

function read(file: string): string {
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
  /** undefined: plain HTTP. */
  readonly tls: TlsOptions | undefined;
}

/**
 * The listeners of a proxy: on its own address for every host, and with TLS for those that a network may reach, which never
 * include administration.
 */
export function listenersOf(
  ports: Readonly<Record<Host, number>>,
  config: TlsListenerConfig & { readonly SVC_LISTEN_ADDRESS: string },
): Listener[] {
  const hosts = Object.entries(ports) as [Host, number][];
  const plain = hosts.map(([host, port]) => ({ host, port, address: config.SVC_LISTEN_ADDRESS, tls: undefined }));
  const withTls = tlsListenerOf(config);
  if (withTls === undefined) return plain;
  return [...plain, ...hosts.filter(([host]) => host !== 'admin').map(([host, port]) => ({ host, port, ...withTls }))];
}
