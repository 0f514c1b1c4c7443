import JSON
import ObjectStore
import OptionValues
import S3
import Service
import Testing

@Suite struct ServiceConfigurationTests {
  private func problems(_ yaml: String) -> [ConfigurationError.Problem] {
    do {
      _ = try ServiceConfiguration(yaml: yaml)
      return []
    } catch {
      return error.problems
    }
  }

  @Test func `an empty file has the defaults`() throws {
    for text in ["", "# nothing\n", "servers:\n", "{}"] where text != "servers:\n" {
      #expect(try ServiceConfiguration(yaml: text) == ServiceConfiguration())
    }
  }

  @Test func `every setting is read`() throws {
    let configuration = try ServiceConfiguration(
      yaml: """
        listen: "[::1]:8443"
        tls: {certificate: a.pem, key: b.pem}
        data: /var/lib/chatbot
        store:
          url: file:///srv/store
          path: "{project}/{date}/{job}"
        servers:
          main: wss://calls.example
          lab:
            url: ws://10.0.0.5:3000
            iceServers: [stun:stun.example, "turn:turn.example:3478"]
            iceCredentialsFile: turn
            ca: ca.pem
            privateCandidates: true
        allowAnyServer: true
        media: {udpPorts: 40000-40999, bindAddress: 10.0.0.1}
        library: clips
        record: {segment: 10m, verify: true}
        limits: {cpu: 170%, memory: 81, udpPorts: 90, minimumFree: 5GB, requests: 50, connections: 10, failures: 3}
        retention: {recordings: 30d, jobs: 90d}
        drainTimeout: 5m
        orphanLimit: 30m
        tokensFile: tokens
        secretKeyFile: key
        page: {enabled: true, snapshots: true}
        log: {format: json, level: debug}
        database:
          url: "postgresql://chatbot@db-1,db-2:5433/chatbot?sslmode=verify-full"
          passwordFile: /etc/chatbot/database.password
          connections: 6
          listen: false
        node: recorder-1
        advertise: https://recorder-1.example:8443
        clusterTokenFile: cluster
        clusterCA: ca.pem
        nodeLossTimeout: 2h
        """)
    #expect(configuration.listen == ListenAddress(host: "::1", port: 8443))
    #expect(configuration.tls?.key == "b.pem")
    #expect(configuration.servers["main"]?.url == "wss://calls.example")
    #expect(configuration.servers["lab"]?.iceServers == ["stun:stun.example", "turn:turn.example:3478"])
    #expect(configuration.servers["lab"]?.allowsPrivateCandidates == true)
    #expect(configuration.media.udpPorts == 40_000...40_999)
    #expect(configuration.record == ["segment": "10m", "verify": .bool(true)])
    #expect(configuration.limits.cpu == 170 && configuration.limits.memory == 81)
    #expect(configuration.limits.minimumFree == 5_000_000_000)
    #expect(configuration.retention.recordings == TimeSpan(milliseconds: 30 * 86_400_000))
    #expect(configuration.retention.jobs == TimeSpan(milliseconds: 90 * 86_400_000))
    var database = ServiceConfiguration.Database(
      url: "postgresql://chatbot@db-1,db-2:5433/chatbot?sslmode=verify-full")
    database.passwordFile = "/etc/chatbot/database.password"
    database.connections = 6
    database.listens = false
    #expect(configuration.database == database)
    #expect(configuration.node == "recorder-1" && configuration.nodeName == "recorder-1")
    #expect(configuration.advertise == "https://recorder-1.example:8443")
    #expect(configuration.clusterTokenFile == "cluster" && configuration.clusterCA == "ca.pem")
    #expect(configuration.nodeLossTimeout == TimeSpan(milliseconds: 7_200_000))
    #expect(configuration.log.format == .json && configuration.page.showsSnapshots)
  }

  @Test(arguments: [
    ("listen: 127.0.0.1:8080\nlisen: x\n", 2, "Did you mean “listen”"),
    ("log:\n  level: loud\n", 2, "“level” must be"),
    ("listen: 8080\n", 1, "host and a port"),
    ("database:\n  url: mysql://a\n", 2, "postgresql://"),
    ("database:\n  url: postgresql://u:secret@a/b\n", 2, "passwordFile"),
    ("database:\n  passwordFile: p\n", 2, "needs a “url”"),
    ("database: {url: \"postgresql://a/b\", connections: 0}\n", 1, "“connections” must be"),
    ("node: a/b\n", 1, "“node” has"),
    ("advertise: recorder-1\n", 1, "URL of this service"),
    ("nodeLossTimeout: 1s\n", 1, "nodeLossTimeout"),
    ("a: &x 1\nb: *x\n", 1, "aliases"),
    ("limits:\n  memory: 120%\n", 2, "1% to 100%"),
    ("limits:\n  cpu: 10001\n", 2, "1% to 10000%"),
    ("store:\n  path: recordings\n", 2, "{job}"),
    ("store:\n  url: http://x\n", 2, "of a bucket"),
    ("store:\n  url: s3://x\n", 2, "no bucket"),
    ("store:\n  url: s3://bucket\n  endpoint: x\n", 3, "“endpoint” must be"),
    ("store:\n  url: s3://bucket\n  region: a b\n", 3, "“region” has"),
    ("store:\n  url: s3://bucket\n  serverSideEncryption: rot13\n", 3, "AES256"),
    ("store:\n  url: s3://bucket\n  uploadRate: 1kB\n", 3, "at least 65536"),
    ("store:\n  url: file:///srv\n  region: eu\n", 3, "only for a store"),
    ("retention:\n  local: soon\n", 2, "duration"),
    ("servers:\n  main:\n    url: calls.example\n", 3, "address of a signalling server"),
    ("servers:\n  \"a b\": wss://x\n", 2, "name of a server"),
    ("record:\n  colour: red\n", 2, "no such option"),
    ("record:\n  segment: never\n", 2, "segment"),
    ("retention:\n  recordings: soon\n", 2, "duration"), ("retention:\n  jobs: 23h\n", 2, "at least"),
    ("media: {udpPorts: 9-1}\n", 1, "range of ports"),
    ("tls: {key: a}\n", 1, "certificate"),
    ("data: a\ndata: b\n", 1, "twice"),
    ("data: [\n", 2, "not YAML"),
    ("- a\n", 1, "list of keys"),
  ])
  func `an unknown key or a bad value is named with its line`(_ yaml: String, line: Int, part: String) {
    let found = problems(yaml)
    #expect(found.contains { $0.line == line && $0.sentence.contains(part) }, "\(found)")
  }

  @Test func `jobs are forgotten after 30 days unless the settings say never`() throws {
    #expect(ServiceConfiguration().retention.jobs == TimeSpan(milliseconds: 30 * 86_400_000))
    #expect(try ServiceConfiguration(yaml: "retention: {jobs: never}").retention.jobs == nil)
  }

  @Test func `a store of S3 has its options, segments by default, and half of the free space for jobs`() throws {
    let configuration = try ServiceConfiguration(
      yaml: """
        store:
          url: s3://recordings/calls
          endpoint: http://127.0.0.1:9000
          region: eu-central-1
          pathStyle: true
          serverSideEncryption: aws:kms:key
          uploadRate: 5MB
          credentialsFile: /etc/chatbot/s3
          profile: chatbot
        retention: {local: 10m}
        limits: {minimumFree: 4GB}
        """)
    let s3 = try configuration.store.s3.configuration(url: try #require(configuration.store.url))
    #expect(s3.bucket == "recordings" && s3.prefix?.text == "calls")
    #expect(s3.endpoint?.description == "http://127.0.0.1:9000" && s3.region == "eu-central-1" && s3.pathStyle == true)
    #expect(s3.serverSideEncryption == .kms(key: "key") && s3.uploadRate == 5_000_000)
    #expect(s3.credentialsFile == "/etc/chatbot/s3" && s3.profile == "chatbot")
    #expect(configuration.retention.local == TimeSpan(milliseconds: 600_000))
    #expect(configuration.recordDefaults["segment"] == "60s")
    #expect(configuration.minimumFreeForJobs == 2_000_000_000)
    let folder = try ServiceConfiguration(yaml: "limits: {minimumFree: 4GB}")
    #expect(folder.recordDefaults.isEmpty && folder.minimumFreeForJobs == 4_000_000_000)
    let own = try ServiceConfiguration(yaml: "store: {url: s3://bucket}\nrecord: {segment: 10m}\n")
    #expect(own.recordDefaults["segment"] == "10m")
  }

  @Test func `lines may end with a carriage return`() throws {
    let text = String(repeating: "# comment\r\n", count: 200) + "data: a\r\nlog:\r\n  level: loud\r\n"
    #expect(problems(text).map(\.line) == [203])
  }

  @Test func `all problems are named at once`() {
    #expect(problems("a: 1\nb: 2\nlog: {format: x}\n").map(\.line) == [1, 2, 3])
  }

  @Test func `deep and long documents are refused`() {
    #expect(!problems(String(repeating: "[", count: 20_000)).isEmpty)
    #expect(!problems("data: " + String(repeating: "- ", count: 500) + "a").isEmpty)
    #expect(!problems(String(repeating: "a: b\n", count: 20_000)).isEmpty)
    #expect(!problems("data: \(String(repeating: "x", count: 2_000))").isEmpty)
  }

  @Test func `plain HTTP beyond this machine must be allowed`() {
    var configuration = ServiceConfiguration()
    #expect(configuration.problem == nil)
    configuration.listen = ListenAddress(host: "0.0.0.0", port: 80)
    #expect(configuration.problem?.contains("--plain-http") == true)
    configuration.allowsPlainHTTP = true
    #expect(configuration.problem == nil)
  }

  @Test(arguments: [
    ("127.0.0.1:8080", true), ("127.1.2.3:1", true), ("localhost:80", true), ("[::1]:8080", true),
    ("0.0.0.0:80", false), ("[::]:80", false), ("10.0.0.1:80", false), ("127.0.0.1.example:80", false),
  ])
  func `loopback addresses are recognized`(_ text: String, isLoopback: Bool) throws {
    let address = try ListenAddress(text)
    #expect(address.isLoopback == isLoopback)
    #expect(address.description == text)
  }
}
