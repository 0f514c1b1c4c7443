package import ObjectStore
package import S3

extension ServiceConfiguration {
  /// Where finished files are kept.
  package struct Store: Sendable, Hashable {
    /// A `file:` or `s3:` URL; nil: `DATA/store`.
    package var url: String?
    /// The beginning of a job's object keys.
    package var path = ObjectPathTemplate.standard
    /// What only a store of S3 needs.
    package var s3 = S3Options()

    package init() {}

    /// Whether the store is reached over the network, so that files wait on this machine until they are there.
    package var isRemote: Bool { url.map { S3Configuration.isURL($0) } ?? false }
  }

  /// The options of a store of S3; without one, the environment or the endpoint decides.
  package struct S3Options: Sendable, Hashable {
    package var endpoint: S3Endpoint?
    package var region: String?
    package var pathStyle: Bool?
    package var serverSideEncryption: S3Configuration.ServerSideEncryption?
    /// Bytes a second, of all uploads together.
    package var uploadRate: Int64?
    package var credentialsFile: String?
    package var profile: String?

    package init() {}

    /// Returns the configuration of the store with this URL.
    package func configuration(url: String) throws(S3Configuration.Problem) -> S3Configuration {
      var configuration = try S3Configuration(url: url)
      configuration.endpoint = endpoint
      configuration.region = region
      configuration.pathStyle = pathStyle
      configuration.serverSideEncryption = serverSideEncryption
      configuration.uploadRate = uploadRate
      configuration.credentialsFile = credentialsFile
      configuration.profile = profile
      return configuration
    }
  }
}
