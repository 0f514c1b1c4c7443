/// How a bucket and an object become a host and a path. Pure.
struct S3Addressing: Sendable, Hashable {
  /// With the bucket, if it is a part of the host.
  let endpoint: S3Endpoint
  /// What comes before each key; it begins and ends with a slash.
  private let root: String

  /// - Parameter url: of the environment (`AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`), if the configuration has none.
  init(_ configuration: S3Configuration, region: String, url: String?) throws(S3Configuration.Problem) {
    var endpoint: S3Endpoint
    var isOwn = true
    if let stated = configuration.endpoint {
      endpoint = stated
    } else if let url {
      guard let found = S3Endpoint(url) else {
        throw S3Configuration.Problem(description: "AWS_ENDPOINT_URL is no URL of a server.")
      }
      endpoint = found
    } else {
      endpoint = S3Endpoint(host: "s3.\(region).\(Self.domain(ofRegion: region))")
      isOwn = false
    }
    // A certificate for names below a host is not valid for two of them, and what a name may have depends on the server.
    let bucket = configuration.bucket
    let canBeHost = bucket.utf8.allSatisfy {
      (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "-")
    }
    let pathStyle = configuration.pathStyle ?? (isOwn || !canBeHost)
    if pathStyle || endpoint.isAddress {
      root = "/\(bucket)/"
    } else {
      endpoint.host = "\(bucket).\(endpoint.host)"
      root = "/"
    }
    self.endpoint = endpoint
  }

  static func domain(ofRegion region: String) -> String {
    region.utf8.starts(with: "cn-".utf8) ? "amazonaws.com.cn" : "amazonaws.com"
  }

  /// - Parameter key: in the bucket.
  func path(of key: String) -> String { root + key }

  /// The path of the bucket.
  var bucketPath: String { root.utf8.count > 1 ? String(root.dropLast()) : root }
}
