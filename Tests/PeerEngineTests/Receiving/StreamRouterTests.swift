import Media
import PeerEngine
import Testing

@Suite("Stream router")
struct StreamRouterTests {
  private func router(_ change: (inout NegotiatedMedia) -> Void = { _ in }) -> StreamRouter {
    var video = Negotiated().section(.vp8, ofAlice: false)
    change(&video)
    var router = StreamRouter()
    router.configure([Negotiated().section(.opus, ofAlice: false), video])
    return router
  }

  @Test("an announced source and its RTX source are known at once, and header extensions are not read")
  func announced() {
    var router = router()
    let media = router.route(ssrc: Negotiated.aliceVideo, payloadType: 96) {
      Issue.record("Header extensions were read.")
      return .init()
    }
    #expect(media == .init(track: 256, payloadType: 96, isRetransmission: false))
    let repair = router.route(ssrc: Negotiated.aliceRepair, payloadType: 97) { .init() }
    #expect(repair == .init(track: 256, payloadType: 96, isRetransmission: true, repairs: Negotiated.aliceVideo))
    #expect(router.track(of: Negotiated.aliceVideo) == 256)
    #expect(router.track(of: Negotiated.aliceRepair) == nil)
  }

  @Test("identifiers in a header extension are remembered for its source")
  func learned() {
    var router = router { $0.remoteSources = [] }
    #expect(
      router.route(ssrc: 9, payloadType: 96) { .init(mid: "1", streamID: "h") }
        == .init(track: 256, payloadType: 96, isRetransmission: false, streamID: "h"))
    #expect(router.route(ssrc: 9, payloadType: 96) { .init() }?.streamID == "h")
    #expect(
      router.route(ssrc: 10, payloadType: 97) { .init(mid: "1", repairedStreamID: "h") }
        == .init(track: 256, payloadType: 96, isRetransmission: true, streamID: "h"))
  }

  @Test("neither a payload type that two sections share nor a mid that does not match it routes a packet")
  func ambiguous() {
    var video = Negotiated().section(.vp8, ofAlice: false)
    video.payloadType = 111
    var router = StreamRouter()
    router.configure([Negotiated().section(.opus, ofAlice: false), video])
    #expect(router.route(ssrc: 9, payloadType: 111) { .init() } == nil)
    #expect(router.route(ssrc: 9, payloadType: 111) { .init(mid: "0") }?.track == 0)
    #expect(router.route(ssrc: 11, payloadType: 97) { .init(mid: "0") } == nil)
  }

  @Test("an announced source with a foreign payload type is not accepted")
  func foreignPayloadType() {
    var router = router()
    #expect(router.route(ssrc: Negotiated.aliceVideo, payloadType: 127) { .init() } == nil)
    #expect(router.route(ssrc: Negotiated.aliceVideo, payloadType: 96) { .init() } != nil)
  }

  @Test("a known source may use another format of its section, also for retransmissions")
  func alternativeFormats() {
    var router = router {
      $0.alternatives = [MediaFormat(codec: .vp8, payloadType: 100, retransmissionPayloadType: 101)]
    }
    #expect(router.route(ssrc: Negotiated.aliceVideo, payloadType: 96) { .init() }?.payloadType == 96)
    #expect(router.route(ssrc: Negotiated.aliceVideo, payloadType: 100) { .init() }?.payloadType == 100)
    let repair = router.route(ssrc: Negotiated.aliceRepair, payloadType: 101) { .init() }
    #expect(repair?.payloadType == 100 && repair?.isRetransmission == true)
    #expect(router.route(ssrc: Negotiated.aliceVideo, payloadType: 96) { .init() }?.payloadType == 96)
  }

  @Test("a packet of RED has the format that it repeats, and each packet says whether it is one")
  func redundant() {
    var audio = Negotiated().section(.opus, ofAlice: false)
    audio.redundancyPayloadType = 63
    audio.redundantPayloadType = 111
    var router = StreamRouter()
    router.configure([audio])
    for _ in 0..<2 {
      for (payloadType, isRedundant) in [(UInt8(63), true), (111, false)] {
        let known = router.route(ssrc: Negotiated.aliceAudio, payloadType: payloadType) { .init() }
        #expect(known?.payloadType == 111 && known?.isRedundant == isRedundant && known?.isRetransmission == false)
        let learned = router.route(ssrc: 9, payloadType: payloadType) { .init(mid: "0") }
        #expect(learned?.payloadType == 111 && learned?.isRedundant == isRedundant)
      }
    }
    var plain = self.router()
    #expect(plain.route(ssrc: Negotiated.aliceAudio, payloadType: 63) { .init() } == nil)
  }

  @Test("a section that only sends accepts no packets")
  func sendOnly() {
    var router = router { $0.receives = false }
    #expect(router.route(ssrc: Negotiated.aliceVideo, payloadType: 96) { .init(mid: "1") } == nil)
  }

  @Test("learned sources are kept across a renegotiation as long as their section is, and are bounded")
  func renegotiation() {
    var router = router { $0.remoteSources = [] }
    for ssrc in 0..<100 { _ = router.route(ssrc: UInt32(ssrc), payloadType: 96) { .init(mid: "1") } }
    #expect(router.track(of: 0) == nil)
    #expect(router.track(of: 99) == 256)
    router.configure(Negotiated().bob)
    #expect(router.track(of: 99) == 256)
    router.configure([Negotiated().section(.opus, ofAlice: false)])
    #expect(router.track(of: 99) == nil)
    router.forget(Negotiated.aliceAudio)
    #expect(router.track(of: Negotiated.aliceAudio) == 0)
  }
}
