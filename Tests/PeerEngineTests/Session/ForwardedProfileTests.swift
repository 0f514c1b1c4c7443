import Bitstream
import Media
import NIOCore
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("Forwarded VP9 of several profiles")
struct ForwardedProfileTests {
  /// A frame of VP9 of 64x64: a keyframe, or one that shows the first reference.
  private static func frame(_ number: Int, isKeyframe: Bool, profile: Int, arrival: MonotonicInstant) -> EncodedFrame {
    // frame_marker, profile_low_bit, profile_high_bit, show_existing_frame, frame_type, show_frame, error_resilient_mode
    let first = 0x80 | (profile & 1) << 5 | (profile >> 1) << 4 | (isKeyframe ? 0 : 4) | 2
    var payload = ByteBuffer(bytes: [UInt8(first)])
    if isKeyframe {
      payload.writeBytes([0x49, 0x83, 0x42])
      // For profile 2 ten bits; color_space 2, color_range 0, then width and height of 64.
      payload.writeBytes(profile == 2 ? [0x20, 0x01, 0xF8, 0x01, 0xF8] : [0x40, 0x03, 0xF0, 0x03, 0xF0])
    }
    payload.writeBytes([UInt8(number), 1, 2, 3, 4, 5, 6, 7])
    return EncodedFrame(
      owner: ParticipantID("source"), codec: .vp9, time: MediaTime(ticks: Int64(number) * 3_000, rate: 90_000),
      payload: payload, isKeyframe: isKeyframe, size: isKeyframe ? VideoSize(width: 64, height: 64) : nil,
      arrival: arrival.instant)
  }

  /// Forwards frames of these profiles, each a keyframe and two frames that follow it, and returns the payload types of the packets and
  /// the payloads that arrived.
  private static func run(
    _ profiles: [Int], formats: [(payloadType: UInt8, profile: String)]
  ) throws -> (types: [UInt8], frames: Int, problems: [Codec]) {
    var media = Negotiated()
    media.video = .vp9
    media.profiles = formats
    var call = SessionCall(
      media: media, configuration: MediaSession.Configuration(keyframeResponse: .requestFromSource, isForwarding: true))
    (call.source, call.times) = (nil, .ofTrack)
    for number in 0..<3 * profiles.count {
      call.give(
        frame(number, isKeyframe: number.isMultiple(of: 3), profile: profiles[number / 3], arrival: call.now))
      call.run(for: .milliseconds(33))
    }
    call.settle()
    let types = call.alice.rtp.map(\.packet.payloadType).filter { $0.isMultiple(of: 2) }
    return (types, call.bob.frames(.vp9).count, call.missingCodecs)
  }

  @Test("each frame is sent under the payload type of its profile")
  func payloadTypes() throws {
    let both: [(UInt8, String)] = [(98, "0"), (100, "2")]
    #expect(try Self.run([2], formats: both).types == [100, 100, 100])
    let changing = try Self.run([0, 2, 0], formats: both)
    #expect(changing.types == [98, 98, 98, 100, 100, 100, 98, 98, 98])
    #expect(changing.frames == 9 && changing.problems.isEmpty)
    #expect(try Self.run([2, 2], formats: [(100, "2")]).types == Array(repeating: 100, count: 6))
  }

  @Test("a viewer who does not accept a profile receives no frame of it, and is reported")
  func refused() throws {
    let usual = try Self.run([2, 0, 2], formats: [(98, "0")])
    #expect(usual.types == [98, 98, 98] && usual.frames == 3 && usual.problems == [.vp9])
  }
}
