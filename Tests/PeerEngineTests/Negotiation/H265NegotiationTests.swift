import Media
import NIOCore
import PeerEngine
import SDP
import Testing

@Suite("Negotiation of H.265")
struct H265NegotiationTests {
  /// An offer of audio and video with formats of our choice, each as in `a=rtpmap`, with its parameters after a space.
  private func offer(_ video: [String]) throws -> String {
    try recorded("offer_h264_only").section("video", video)
  }

  /// Returns the payload type of the video that was agreed, and its parameters in our answer; nil if it was refused.
  private func answer(_ formats: [String], codecs: [Codec]? = nil) throws -> (payloadType: UInt8, parameters: [String])?
  {
    var negotiator = Negotiator.seeded { $0.codecs.video = codecs }
    let (answer, session) = try negotiator.answer(to: try offer(formats))
    guard let media = session.media.first(where: { $0.codec == .h265 }) else { return nil }
    return (media.payloadType, answer.sections[1].attributes("fmtp"))
  }

  @Test("an offer without parameters, as Safari's, means profile Main, and we answer with level 6")
  func safari() throws {
    let agreed = try #require(try answer(["H265/90000", "VP8/90000"]))
    #expect(agreed.payloadType == 96)
    #expect(agreed.parameters == ["96 level-id=180;profile-id=1;tier-flag=0;tx-mode=SRST"])
  }

  @Test("profiles Main and Main 10 are answered with their profile and tier")
  func profiles() throws {
    let main = try #require(try answer(["H265/90000 level-id=93;profile-id=1;tier-flag=0;tx-mode=SRST"]))
    #expect(main.parameters == ["96 level-id=180;profile-id=1;tier-flag=0;tx-mode=SRST"])
    let ten = try #require(try answer(["H265/90000 profile-id=2;tier-flag=1;level-id=156"]))
    #expect(ten.parameters == ["96 level-id=180;profile-id=2;tier-flag=1;tx-mode=SRST"])
  }

  @Test(
    "other profiles, several streams and packets in another order are not chosen, and named if nothing else is offered")
  func unsupported() throws {
    for (parameters, name) in [
      ("profile-id=4", "profile-id 4"), ("tx-mode=MRST", "tx-mode MRST"),
      ("sprop-max-don-diff=3", "sprop-max-don-diff 3"),
    ] {
      let other = try #require(try answer(["H265/90000 \(parameters)", "H265/90000"]))
      #expect(other.payloadType == 97)
      var negotiator = Negotiator.seeded { $0.codecs.video = [.h265, .vp8] }
      let (_, session) = try negotiator.answer(to: try offer(["H265/90000 \(parameters)"]))
      #expect(
        session.rejected.map(\.cause) == ["only H265 with \(name) is offered, but we support H265 and VP8"])
    }
  }

  @Test("parameter sets of the description are kept for keyframes without them")
  func parameterSets() throws {
    var negotiator = Negotiator.seeded()
    let (_, session) = try negotiator.answer(
      to: try offer(["H265/90000 sprop-vps=QAEM;sprop-sps=QgEB;sprop-pps=RAHB"]))
    #expect(
      session.media[1].format.parameterSets.map { Array($0.readableBytesView) } == [
        [0x40, 1, 0x0C], [0x42, 1, 1], [0x44, 1, 0xC1],
      ])
  }

  @Test("our offers have both profiles as Chromium writes them, and an answer without parameters is understood")
  func offers() throws {
    var negotiator = Negotiator.seeded { $0.codecs.video = [.h265] }
    let text = negotiator.createOffer()
    let ours = try SessionDescription(parsing: text)
    let video = try #require(ours.sections.first { $0.mediaLine.kind == "video" })
    let parameters = video.attributes("fmtp").filter { !$0.contains("apt=") }.compactMap { $0.cut(at: " ")?.after }
    #expect(
      parameters == [
        "level-id=180;profile-id=1;tier-flag=0;tx-mode=SRST", "level-id=180;profile-id=2;tier-flag=0;tx-mode=SRST",
      ])
    #expect(video.payloadFormats.filter { $0.name == "H265" }.allSatisfy { $0.clockRate == 90_000 })
  }
}
