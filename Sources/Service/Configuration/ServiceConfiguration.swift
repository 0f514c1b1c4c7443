package import JSON
internal import Media
package import OptionValues

/// The settings of the service. Each has a default, so that no file is needed.
///
/// Paths are as the file names them, relative to the working directory. No description contains a secret: secrets stand in files,
/// and the settings name these.
package struct ServiceConfiguration: Sendable, Hashable {
  /// Where the API and the page are served.
  package var listen = ListenAddress(host: "127.0.0.1", port: 8080)
  /// Without it, HTTP is plain.
  package var tls: TLSFiles?
  /// Whether plain HTTP is allowed at an address that other machines reach: `--plain-http`.
  package var allowsPlainHTTP = false
  /// The folder of the database, of running jobs and, by default, of the store; created if missing.
  package var data = "chatbot-data"
  /// Nil: a file of SQLite in the data folder, which only this service can use.
  package var database: Database?
  package var store = Store()
  /// The signalling servers that a job may name. Without a file: the one that `chatbot serve` starts on this machine.
  package var servers = [Self.defaultServer: Server(url: "ws://localhost:3000")]
  /// Whether a job may give the URL of its server.
  package var allowsAnyServer = false
  package var media = Media()
  /// The folder with the files that `play` jobs may name; nil if they can play only the pattern.
  package var library: String?
  /// Values for the options of `record` jobs that do not give them, by their names in the API.
  package var record: [String: JSONValue] = [:]
  package var limits = Limits()
  package var retention = Retention()
  /// How long jobs run on after SIGTERM.
  package var drainTimeout = TimeSpan(milliseconds: 600_000)
  /// How long a job process runs without a connected service.
  package var orphanLimit = TimeSpan(milliseconds: 3_600_000)
  /// Nil: `DATA/tokens`, beside which the first start makes `DATA/admin.token`.
  package var tokensFile: String?
  /// Nil: `DATA/secret.key`, which the first start makes.
  package var secretKeyFile: String?
  package var webhooks = Webhooks()
  package var page = Page()
  package var log = Log()
  /// The name of this service among those that use the same database; nil: the name of the host.
  package var node: String?
  /// The URL at which the other nodes reach the API of this one; nil: they cannot.
  package var advertise: String?
  /// A file with the token that nodes have in common, of 32 characters at least.
  package var clusterTokenFile: String?
  /// A PEM file with CA certificates to trust in addition to those of the system when other nodes are asked.
  package var clusterCA: String?
  /// After which time without a word a node counts as lost, with the files that only it has.
  package var nodeLossTimeout = TimeSpan(milliseconds: 3_600_000)

  package init() {}

  /// The options that `record` jobs have which do not give them. With a store of S3, files have segments: what is lost with a
  /// machine is the open one.
  package var recordDefaults: [String: JSONValue] {
    guard store.isRemote, record["segment"] == nil else { return record }
    return record.merging(["segment": .string("60s")]) { own, _ in own }
  }

  /// The free space below which no job is accepted, in bytes. With a store of S3, copies of stored files make room before that.
  package var minimumFreeForJobs: Int64 { store.isRemote ? limits.minimumFree / 2 : limits.minimumFree }

  /// The name of the server that a job gets which names none, where several are configured.
  package static let defaultServer = "main"

  package struct TLSFiles: Sendable, Hashable {
    /// A PEM file with the certificate and those of its issuers.
    package var certificate: String
    /// A PEM file with the private key.
    package var key: String
  }

  package struct Database: Sendable, Hashable {
    /// `postgresql://USER@HOST/NAME`, as ``PostgreSQLSettings`` takes it.
    package var url: String
    /// A file with the password.
    package var passwordFile: String?
    /// The greatest number of connections.
    package var connections = 4
    /// Whether a further connection listens for what other nodes change. Behind a pooler in transaction mode nothing is heard.
    package var listens = true

    package init(url: String) {
      self.url = url
    }
  }

  package struct Server: Sendable, Hashable {
    package var url: String
    /// STUN and TURN servers, as `--ice-server` takes them.
    package var iceServers: [String] = []
    /// A file with `user:password` for the TURN servers.
    package var iceCredentialsFile: String?
    /// A PEM file with the CA certificates to trust.
    package var ca: String?
    /// Whether users' candidates on this machine and in private networks are checked; nil: if the server is in such a network.
    package var allowsPrivateCandidates: Bool?

    package init(url: String) {
      self.url = url
    }
  }

  package struct Media: Sendable, Hashable {
    /// The UDP ports for media, one for each job; nil: any free ones.
    package var udpPorts: ClosedRange<UInt16>?
    /// The local address for media; nil: every address of this machine.
    package var bindAddress: String?
  }

  package struct Limits: Sendable, Hashable {
    /// The largest ``cpu``. More than 100 % is for jobs that mostly wait for users: more is reserved for them than they use.
    package static let maximumCPU = 10_000
    /// The part of the processors, of the memory and of the UDP ports that jobs may use, in percent.
    package var cpu = 80
    package var memory = 80
    package var udpPorts = 80
    /// Free space below which no job is accepted, in bytes.
    package var minimumFree: Int64 = 10_000_000_000
    /// Requests a second of a token.
    package var requests = 100
    /// Wrong tokens of an address within a minute, after which further ones get 429.
    package var failures = 10
    package var connections = 1_000
  }

  package struct Retention: Sendable, Hashable {
    /// After which time since its end a recording is deleted; nil: never.
    package var recordings: TimeSpan?
    /// After which time since its end, and since the deletion of its recording, a job is forgotten with its events; nil: never.
    package var jobs: TimeSpan? = TimeSpan(milliseconds: 30 * 86_400_000)
    /// How long files stay on this machine after they were stored in S3.
    package var local = TimeSpan(milliseconds: 3_600_000)
  }

  package struct Page: Sendable, Hashable {
    package var isEnabled = true
    /// Whether the page shows snapshots of users.
    package var showsSnapshots = false
  }

  package struct Log: Sendable, Hashable {
    package enum Format: String, Sendable, CaseIterable {
      case text, json
    }
    package enum Level: String, Sendable, CaseIterable {
      case trace, debug, info, notice, warning, error
    }
    package var format = Format.text
    package var level = Level.info
  }
}
