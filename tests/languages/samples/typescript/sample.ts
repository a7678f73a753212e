import { EventEmitter } from "events";
import type { Row } from './rows';
import fs = require("fs");
export * from "./errors";

/** Where a record lives. */
export interface Store<T> extends Iterable<T>, base.Closable {
  readonly size: number;
  get(key: string): T | undefined;
  put?(key: string, value: T): void;
  handler: (event: Event) => void;
}

export type Key = string | number;

// What can go wrong.
export enum Problem {
  Missing,
  Locked = "locked",
}

const enum Flag { On = 1 }

export const DEFAULT_SIZE: number = 10;
let counter = 0;
export let pending: Promise<void>;

function isRow(value: unknown): value is Row;
function isRow(value: any): boolean {
  return Boolean(value && value.id);
}

export const identity = <T,>(value: T): T => value;

/**
 * Keeps rows in memory.
 * Nothing is written to disk.
 */
@Injectable({ scope: "root" })
export abstract class MemoryStore<T> extends EventEmitter implements Store<T>, Disposable {
  private rows = new Map<string, T>();
  protected readonly limit: number = DEFAULT_SIZE;
  static instance?: MemoryStore<Row>;

  constructor(private readonly name: string) {
    super();
  }

  get size(): number {
    return this.rows.size;
  }

  // Finds a row by its key.
  @memoize()
  get(key: string): T | undefined {
    return this.rows.get(key)!;
  }

  protected abstract flush(force?: boolean): Promise<void>;

  public async *entries(): AsyncGenerator<T> {
    for (const row of this.rows.values()) yield row;
  }

  onChange = async (row: T): Promise<void> => {
    this.emit("change", row);
  };
}

/** Turning rows to text. */
export namespace Format.Text {
  export const SEPARATOR = ",";
  export function join(row: Row): string {
    const cells = Object.values<string>(row);
    return cells.join(SEPARATOR);
  }
}

declare module "plugin" {
  export function load(name: string): void;
  export const version: string;
}

declare global {
  interface Window {
    store: Store<unknown>;
  }
}

declare function legacy(x: number): void;
declare const BUILD: string;

const handlers = {
  open(file: string) {
    return fs.openSync(file, "r");
  },
  close: function (fd: number) {},
  'read-all': async () => {},
};

abstract class Shape {
  abstract readonly area: number;
}

export default class extends Shape {
  area = 1;
}

export function wrap(store: Store<Row>) {
  const local = 1;
  const nested = () => local;
  return { nested, store, fresh: new Map.Entry<string>() };
}
