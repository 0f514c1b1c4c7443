import Codecs
import Foundation
import Media
import MediaWorker
import NIOCore
import TestSupport
import Testing

@Suite("The sandbox of decoding processes")
struct SandboxTests {
  private func attempts(_ arguments: String...) throws -> [String: String] {
    let path = try ProgramPath.media.find().get()
    let result = try ExternalTool.run(path, ["--self-test"] + arguments)
    let lines = result.output.split(separator: "\n").map { $0.split(separator: ":", maxSplits: 1) }
    return Dictionary(
      uniqueKeysWithValues: lines.compactMap { line in
        line.count == 2 ? (String(line[0]), line[1].trimmingCharacters(in: .whitespaces)) : nil
      })
  }

  /// The attempts that anybody can do outside of a sandbox.
  private static let ordinary = [
    "open", "create", "stat", "socket", "local socket", "exec", "fork", "thread", "executable mmap",
    "executable mprotect", "shared mmap", "growing mmap", "kill", "512 MiB", "inherited descriptors", "environment",
  ]

  @Test("inside, no file, socket, program, process, thread or executable memory can be had")
  func inside() throws {
    let results = try attempts()
    for name in Self.ordinary + ["ptrace"] {
      let result = try #require(results[name], "\(name)")
      #expect(result == "SIGSYS" || result.hasPrefix("error "), "\(name): \(result)")
    }
    for name in ["socket", "local socket", "exec", "fork", "thread", "executable mmap", "executable mprotect"] {
      #expect(results[name] == "SIGSYS")
    }
    #expect(results["512 MiB"] == "error 12, Cannot allocate memory")
  }

  @Test(
    "a process that encodes a composition has threads, one that writes a file has none, and neither can do more",
    arguments: [("--encoding", true), ("--writing", false)])
  func kinds(argument: String, hasThreads: Bool) throws {
    let results = try attempts(argument)
    for name in Self.ordinary + ["ptrace"] where name != "512 MiB" && name != "thread" {
      let result = try #require(results[name], "\(name)")
      #expect(result == "SIGSYS" || result.hasPrefix("error "), "\(name): \(result)")
    }
    #expect(results["thread"] == (hasThreads ? "done" : "SIGSYS"))
    #expect(results["512 MiB"] == "done")
  }

  @Test("the same attempts succeed without the sandbox")
  func outside() throws {
    let results = try attempts("--without-sandbox")
    for name in Self.ordinary { #expect(results[name] == "done", "\(name)") }
  }

  @Test("after 100 workers no descriptor, process or memory is left")
  func leaks() throws {
    let stream = try H264Stream.make(size: "320x240", seconds: 0.2)
    let launcher = MediaLauncher()
    func round() throws {
      let decoder = try VideoDecoder(.h264, in: MediaWorker(launcher))
      for frame in stream.frames { try decoder.decode(frame) { _ in } }
    }
    try round()
    let (descriptors, memory) = (Self.descriptors, Self.mappings)
    for _ in 0..<100 { try round() }
    // Another worker is started after all were forgotten.
    try round()
    #expect(Self.descriptors <= descriptors)
    #expect(Self.mappings <= memory)
    let parent = try #require(launcher.id)
    let children = try String(contentsOfFile: "/proc/\(parent)/task/\(parent)/children", encoding: .utf8)
    #expect(children.split(separator: " ").count <= 1)
  }

  /// Descriptors of workers; other tests open and close others.
  private static var descriptors: Int {
    let folder = "/proc/self/fd"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { name in
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)"))?.contains("socket:") == true
    }.count
  }

  /// Shared memory of workers.
  private static var mappings: Int {
    let text = (try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)) ?? ""
    return text.split(separator: "\n").filter { $0.contains("memfd:chatbot-media") }.count
  }

  @Test("a worker that decodes 640x480 has at most 12 MiB of its own")
  func memory() throws {
    let stream = try H264Stream.make(size: "640x480", seconds: 1)
    let worker = MediaWorker()
    let decoder = try VideoDecoder(.h264, in: worker)
    for frame in stream.frames { try decoder.decode(frame) { _ in } }
    let id = try #require(worker.id)
    // Without privileges a process in a user namespace of its own cannot be looked at.
    guard let text = try? String(contentsOfFile: "/proc/\(id)/smaps_rollup", encoding: .utf8) else { return }
    let kilobytes = text.split(separator: "\n").filter { $0.hasPrefix("Private_") }
      .compactMap { $0.split(separator: " ").dropFirst().first.flatMap { Int($0) } }.reduce(0, +)
    print("private memory of a worker: \(kilobytes) KiB")
    #expect((1...12 * 1_024).contains(kilobytes))
  }
}
