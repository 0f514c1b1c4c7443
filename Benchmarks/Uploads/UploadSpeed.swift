import Glibc
import Logging
import ObjectStore
import S3

/// Uploads files to a store, and prints how fast it was and what it cost this process.
///
/// Usage: upload-speed ENDPOINT FOLDER [FILES] [MEBIBYTES]      a file of so many MiB is written to FOLDER, and uploaded so many times
@main
struct UploadSpeed {
  static func main() async {
    do {
      try await run(CommandLine.arguments)
    } catch {
      print("\(error)")
      exit(1)
    }
  }

  private static func run(_ words: [String]) async throws {
    guard words.count >= 3, let endpoint = S3Endpoint(words[1]) else {
      print("usage: upload-speed ENDPOINT FOLDER [FILES] [MEBIBYTES]")
      exit(64)
    }
    let files = words.count > 3 ? Int(words[3]) ?? 8 : 8
    let mebibytes = words.count > 4 ? Int(words[4]) ?? 64 : 64
    let path = "\(words[2])/upload-speed.data"
    try write(path, mebibytes)
    defer { unlink(path) }

    var configuration = try S3Configuration(url: "s3://bucket")
    configuration.endpoint = endpoint
    let transport = HTTPClientTransport()
    let store = try S3ObjectStore(
      configuration, environment: ["AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"], transport: transport,
      logger: Logger(label: "upload-speed"))
    try await store.probe()
    let start = ContinuousClock.now
    let before = clock()
    for number in 1...max(1, files) {
      guard let key = ObjectKey("file-\(getpid())-\(number)") else { continue }
      _ = try await store.put(try SourceFile(path: path), at: key)
    }
    let used = Double(clock() - before) / 1e6
    let passed = (ContinuousClock.now - start) / .seconds(1)
    let megabytes = Double(files * mebibytes << 20) / 1e6
    print("uploaded MB: \(Int(megabytes))")
    print("MB/s: \(Int(megabytes / passed))")
    print("MB/s of a core of this process: \(Int(megabytes / used))")
    await transport.shutdown()
  }

  private static func write(_ path: String, _ mebibytes: Int) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw ObjectStoreError(.storage, "\(path) cannot be created.") }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: index &* 31 &+ index >> 8) }
    for _ in 0..<mebibytes {
      guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
        throw ObjectStoreError(.full, "\(path) cannot be written.")
      }
    }
  }
}
