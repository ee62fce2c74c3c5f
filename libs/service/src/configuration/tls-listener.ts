import { readFileSync } from 'node:fs';
import type { Host } from '@svc/contracts';
import { IsIP, IsOptional, IsString, MaxLength, MinLength, ValidateIf } from 'class-validator';
import { ConfigError } from './config-error.js';

/**
 * A program that also listens with TLS, on an address of its own and with the port numbers it has on loopback: for phones
 * on the same network (`./svc up --lan`). In production TLS ends in front of the programs, and none of this is set.
 */
export class TlsListenerConfig {
  /** Address to listen on with TLS, beside SVC_LISTEN_ADDRESS. Not set, there is no TLS. */
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

/** What a server of Node.js takes. */
export interface TlsOptions {
  /** PEM. */
  readonly cert: string;
  /** PEM; a secret. */
  readonly key: string;
  readonly handshakeTimeout: number;
}

/** As long as a client may take for the head of a request: Node.js's own 120 s would keep a silent one that long. */
const HANDSHAKE_MS_MAX = 10_000;

/** Where to listen with TLS, and with what; undefined where that is not wanted. Throws ConfigError. */
export function tlsListenerOf(config: TlsListenerConfig): { address: string; tls: TlsOptions } | undefined {
  const { SVC_TLS_LISTEN_ADDRESS: address, SVC_TLS_CERTIFICATE_FILE: cert, SVC_TLS_KEY_FILE: key } = config;
  if (address === undefined || cert === undefined || key === undefined) return undefined;
  return { address, tls: { cert: read(cert), key: read(key), handshakeTimeout: HANDSHAKE_MS_MAX } };
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new ConfigError(`${file}, named for TLS, cannot be read.`, { cause });
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
 * Where a front listens: on its own address for every host, and with TLS for those that a network may reach.
 * Administration is never among these.
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
