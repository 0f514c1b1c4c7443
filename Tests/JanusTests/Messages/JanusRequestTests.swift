import Janus
import Media
import Signalling
import Testing

@Suite("Janus requests")
struct JanusRequestTests {
  @Test("a subscription is written as the recorded client wrote it")
  func subscribe() throws {
    var request = JanusRequest("message")
    request.transaction = "LXNbGqyS"
    request.sessionID = 7_415_223_626_374_103
    request.handleID = 4_772_145_596_846_356
    request.body = .init("join")
    request.body?.ptype = "subscriber"
    request.body?.room = .text("lounge")
    request.body?.streams = [.init(feed: .text("621c143f-c015-42ab-adbe-ff48ab700897"), mid: "0")]
    #expect(try RecordedMessages.texts("janus112-text-ids-recorder.json", "sent").contains(request.text))
  }

  @Test("a trickled candidate always has a mid or an index, and the end of candidates is completed")
  func trickle() {
    var request = JanusRequest("trickle")
    request.transaction = "1"
    request.candidate = JanusCandidate(TrickledCandidate(candidate: "candidate:1"))
    #expect(
      request.text
        == #"{"candidate":{"candidate":"candidate:1","sdpMLineIndex":0},"janus":"trickle","transaction":"1"}"#)
    request.candidate = JanusCandidate(TrickledCandidate(candidate: "", mid: "0"))
    #expect(request.text == #"{"candidate":{"completed":true},"janus":"trickle","transaction":"1"}"#)
  }

  @Test("secrets are sent, but are not in any description")
  func secrets() {
    var options = JanusClient.Options(room: .number(1))
    options.pin = "s3cret"
    options.apiSecret = "s3cret"
    options.token = "s3cret"
    options.roomToken = "s3cret"
    var configuration = JanusSession.Configuration(room: .number(1))
    (configuration.pin, configuration.roomToken) = ("s3cret", "s3cret")
    (configuration.apiSecret, configuration.token) = ("s3cret", "s3cret")
    var session = JanusSession(configuration: configuration)
    let output = session.opened(now: .now)
    #expect(output.requests[0].text.contains("s3cret"))
    var body = JanusRequest.Body("join")
    body.pin = "s3cret"
    for text in ["\(options)", "\(configuration)", "\(output)", "\(body)", "\(output.requests)"] {
      #expect(!text.contains("s3cret"))
    }
  }

  @Test("digits name a numbered room, other texts a room with a text id")
  func rooms() {
    #expect(JanusID("1234") == .number(1234))
    #expect(JanusID("lounge") == .text("lounge"))
    #expect(JanusID("99999999999999999999") == .text("99999999999999999999"))
    #expect(JanusID("-1") == .text("-1"))
  }
}
