import Codecs
import Media
import NIOCore
import Testing

@testable import Recorder

@Suite("Frames known to be on the disk")
struct WrittenFrameTrackerTests {
  /// A frame with arbitrary content; 20 ms for audio.
  private func timestamped(_ codec: Codec, _ index: Int, bytes: Int, gap: Bool = false) -> TimestampedFrame {
    let interval = codec == .opus ? 0.02 : 1 / 30.0
    let position = Duration.seconds(Double(index) * interval + (gap ? 1 : 0))
    let payload = ByteBuffer(bytes: [codec == .opus ? 0xF8 : 0x10] + [UInt8](repeating: 7, count: bytes))
    let isKeyframe = codec == .opus || index.isMultiple(of: 10)
    let frame = EncodedFrame(
      owner: ParticipantID("anna"), codec: codec, time: MediaTime(ticks: 0, rate: codec.clockRate), payload: payload,
      isKeyframe: isKeyframe, size: codec == .vp8 && isKeyframe ? VideoSize(width: 64, height: 48) : nil,
      arrival: Script.beginning + position)
    return TimestampedFrame(frame: frame, position: position)
  }

  @Test(
    "audio packets on the disk are those in complete pages, whether pages are full or due",
    arguments: [20, 160, 400, 1_200])
  func audio(bytes: Int) throws {
    let disk = ScriptedDisk()
    let growing = AppendFile(name: "anna.ogg", in: try RecordingDirectory(path: "out", disk: disk))
    let file = OggFile(
      file: growing, writer: try OggOpusWriter(serial: 7, channels: 1), segment: nil, start: .zero)
    var seen: Set<UInt64> = []
    for index in 0..<200 {
      file.add(timestamped(.opus, index, bytes: bytes, gap: index > 150))
      if index % 40 == 39 { file.flush(now: Script.beginning + .seconds(Double(index) * 0.02 + 0.7), atOnce: false) }
      if growing.isWaiting { try growing.store() }
      let content = disk.files["anna.ogg"] ?? []
      let count = try content.isEmpty ? nil : OggCount(content)
      let stored = Int(file.stored.frames)
      #expect(stored == count.map { $0.packets - $0.fillers } ?? 0, "\(index)")
      seen.insert(file.stored.frames)
      #expect(file.unstoredFrames == UInt64(index + 1) - file.stored.frames)
      let isSame = index > 150 || file.stored.frames == 0 || file.stored.end.milliseconds == Int64(20 * stored)
      #expect(isSame)
    }
    #expect(seen.count > 4)
    file.finish()
    try growing.store()
    #expect(file.stored.frames == 200 && file.unstoredFrames == 0)
  }

  @Test("video frames on the disk are those in complete clusters, with their keyframes and their end")
  func videoFrames() throws {
    let disk = ScriptedDisk()
    let growing = AppendFile(name: "anna.webm", in: try RecordingDirectory(path: "out", disk: disk))
    let file = MatroskaFile(.webm, file: growing, segment: nil, start: .zero, date: 0)
    for index in 0..<100 {
      file.add(timestamped(.vp8, index, bytes: 300))
      if growing.isWaiting { try growing.store() }
      let blocks = BlockReader(disk.files["anna.webm"] ?? []).blocks
      #expect(file.stored.frames == UInt64(blocks.count))
      #expect(file.stored.keyframes == UInt64(blocks.count(where: \.isKeyframe)))
      let end = blocks.last.map { Double($0.time) / 1_000 + 1 / 30.0 } ?? 0
      #expect(abs(file.stored.end.roundedSeconds - end) < 0.003)
      #expect(abs(file.storedDuration.roundedSeconds - end) < 0.003)
    }
    #expect(file.stored.frames == 90)
  }
}
