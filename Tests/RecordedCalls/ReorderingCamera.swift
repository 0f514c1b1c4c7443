import Codecs
import Media
import MediaMessages
import MediaWorker
import NIOCore
import Pattern

/// Paints the test pattern and encodes it in H.264 with B-frames, as an encoder that is not made for calls does: frames come in
/// decoding order, one each interval, and late by the number of frames that are reordered.
final class ReorderingCamera: SentTrack {
  let codec = Codec.h264
  private var pieces: ArraySlice<SentPiece>

  init(_ video: SentVideo, clock: SenderClock, pattern: UInt16, stay: Range<Double>) throws {
    let span = (video.span ?? stay).clamped(to: stay)
    let rate = Double(video.framesPerSecond)
    let first = Int((clock.reading(at: span.lowerBound) * rate).rounded(.up))
    let end = Int((clock.reading(at: span.upperBound) * rate).rounded(.up))
    guard
      let settings = CompositionEncoderSettings(
        codec: .h264, width: video.size.width, height: video.size.height, numerator: video.framesPerSecond,
        keyframeDistance: video.keyframeDistance)
    else { throw CodecError("encode", "the size is odd") }
    let encoder = try CompositionEncoder(settings)
    let painter = PatternPainter(size: video.size, streamID: pattern)
    var packets: [EncodedPacket] = []
    for number in first..<end {
      let reading = Double(number) / rate
      let frame = painter.videoFrame(
        frame: UInt32(truncatingIfNeeded: number), time: UInt64(clamping: clock.shown(at: reading)))
      packets += try encoder.encode(frame: Int64(number)) { memory in
        var offset = 0
        for plane in [frame.luma, frame.blue, frame.red] {
          plane.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: memory[offset...]).copyMemory(from: $0) }
          offset += plane.count
        }
      }
    }
    packets += try encoder.finish()
    // No frame is sent before it is shown to the camera: all wait for those that are decoded earliest.
    let delay = packets.enumerated().map { $1.pts - Int64(first + $0) }.max() ?? 0
    var latest = Int64.min
    pieces =
      packets.enumerated().map { index, packet in
        var payload = ByteBuffer()
        if packet.isKeyframe { Self.append(encoder.privateData, to: &payload) }
        Self.append(packet.bytes, to: &payload)
        defer { latest = max(latest, packet.pts) }
        return SentPiece(
          time: clock.time(of: Double(first + index + Int(delay)) / rate),
          ticks: Int64((Double(packet.pts) / rate * Double(VideoEncoder.rate)).rounded()), codec: .h264,
          payload: payload,
          isKeyframe: packet.isKeyframe, size: packet.isKeyframe ? video.size : nil, isReordered: packet.pts < latest)
      }[...]
  }

  func pieces(before time: Double) throws -> [SentPiece] {
    let due = pieces.prefix { $0.time < time }
    pieces = pieces.dropFirst(due.count)
    return Array(due)
  }

  /// Appends the units of a byte stream (H.264, annex B), each after its length.
  private static func append(_ bytes: [UInt8], to payload: inout ByteBuffer) {
    for unit in ByteStreamUnits.ranges(in: bytes) {
      payload.writeInteger(UInt32(unit.count))
      payload.writeBytes(bytes[unit])
    }
  }
}
