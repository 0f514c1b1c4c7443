internal import Media
package import ObjectStore

/// Where objects are kept, and how they are sent there.
package struct S3Configuration: Sendable, Hashable {
  package var bucket: String
  /// What comes before each key, without a slash at its end; nil: nothing.
  package var prefix: ObjectKey?
  /// Nil: the endpoint of the environment, or that of Amazon in the region.
  package var endpoint: S3Endpoint?
  /// Nil: the region of the environment, or `us-east-1`.
  package var region: String?
  /// Whether the bucket is a part of the path, not of the host's name; nil: as the endpoint needs it.
  package var pathStyle: Bool?
  package var serverSideEncryption: ServerSideEncryption?
  /// The maximum rate of all uploads together, in bytes a second; nil: no limit.
  package var uploadRate: Int64?
  /// A file of credentials, and the profile in it. If one of them is set, credentials are searched for nowhere else.
  package var credentialsFile: String?
  package var profile: String?

  /// How a store encrypts what it keeps.
  package enum ServerSideEncryption: Sendable, Hashable {
    /// `AES256`: with a key of the store.
    case aes256
    /// `aws:kms`, with the key that is named, or the standard one.
    case kms(key: String?)

    /// - Parameter text: `AES256`, `aws:kms` or `aws:kms:KEY`; nil for another one.
    package init?(_ text: String) {
      switch text {
      case "AES256": self = .aes256
      case "aws:kms": self = .kms(key: nil)
      default:
        guard text.utf8.starts(with: "aws:kms:".utf8) else { return nil }
        let key = text.dropFirst("aws:kms:".count)
        guard !key.isEmpty, key.utf8.count <= 2_048, key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
          return nil
        }
        self = .kms(key: String(key))
      }
    }
  }

  /// Why a configuration cannot be used.
  package struct Problem: Error, Sendable, Hashable, CustomStringConvertible {
    /// A sentence.
    package let description: String
  }

  /// The lowest ``uploadRate``: with less, a part would take so long that connections time out.
  package static let minimumUploadRate: Int64 = 65_536

  /// - Parameter url: `s3://BUCKET` or `s3://BUCKET/PREFIX`.
  package init(url: String) throws(Problem) {
    guard Self.isURL(url) else { throw Problem(description: "\(url.printable()) does not begin with s3://.") }
    let rest = url.dropFirst("s3://".count)
    let parts = rest.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    let bucket = parts.first.map(String.init) ?? ""
    guard (3...63).contains(bucket.utf8.count), bucket.utf8.first != UInt8(ascii: "."),
      bucket.utf8.allSatisfy({ Self.isNameByte($0) || $0 == UInt8(ascii: ".") })
    else {
      throw Problem(
        description:
          "The store s3://\(bucket.printable()) names no bucket of 3 to 63 letters, digits, dots and hyphens.")
    }
    self.bucket = bucket
    guard parts.count > 1 else { return }
    var path = parts[1]
    if path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
    if path.isEmpty { return }
    guard let prefix = ObjectKey(String(path)), prefix.text.utf8.count <= Self.maximumPrefixBytes else {
      throw Problem(
        description:
          "The prefix \(String(path).printable()) has something else than letters, digits, “-”, “_”, “.” and “=” between slashes, "
          + "or more than \(Self.maximumPrefixBytes) bytes.")
    }
    self.prefix = prefix
  }

  /// Keys of recordings have room behind it.
  package static let maximumPrefixBytes = 300

  /// Whether a URL names a bucket.
  package static func isURL(_ url: String) -> Bool { url.utf8.starts(with: "s3://".utf8) }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
    default: false
    }
  }

  /// Whether a text can be a region: it becomes a part of signatures and of the names of hosts.
  package static func isRegion(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count) && text.utf8.allSatisfy(isNameByte)
  }
}
