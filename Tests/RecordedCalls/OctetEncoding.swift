import Codecs
import Foundation
import Media
import NIOCore

/// Has ffmpeg encode audio to G.711 or G.722.
enum OctetEncoding {
  struct Failure: Error {
    let status: Int32
  }

  /// The bytes of 20 ms: both codecs have 8,000 a second.
  private static let packetBytes = 160

  static func packets(of audio: AudioSamples, codec: Codec) throws -> [ByteBuffer] {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (input, output) = (folder.appendingPathComponent("in.f32"), folder.appendingPathComponent("out.raw"))
    try audio.samples.withUnsafeBytes { try Data($0).write(to: input) }
    let format: String
    switch codec {
    case .pcmu: format = "mulaw"
    case .pcma: format = "alaw"
    default: format = "g722"
    }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "ffmpeg", "-v", "error", "-nostdin", "-f", "f32le", "-ar", "48000", "-ac", "\(audio.channels)", "-i", input.path,
      "-ac", "1", "-ar", codec == .g722 ? "16000" : "8000", "-f", format, output.path,
    ]
    process.standardInput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure(status: process.terminationStatus) }
    let bytes = [UInt8](try Data(contentsOf: output))
    return stride(from: 0, through: bytes.count - packetBytes, by: packetBytes).map {
      ByteBuffer(bytes: bytes[$0..<$0 + packetBytes])
    }
  }
}
