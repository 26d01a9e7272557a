/** Ids are 16 bytes, times DATETIME(3) in UTC, money BIGINT in the asset's smallest unit. */
export const ID = 'BINARY(16) NOT NULL';
export const ID_OR_NULL = 'BINARY(16) NULL';
export const TIME = 'DATETIME(3) NOT NULL';
export const TIME_OR_NULL = 'DATETIME(3) NULL';
export const ASSET = "ENUM('COPM', 'DUSD')";
export const ASCII = 'CHARACTER SET ascii COLLATE ascii_bin';
export const TABLE = 'ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';

export function ascii(length: number): string {
  return `VARCHAR(${length}) ${ASCII}`;
}
