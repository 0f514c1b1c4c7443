import BotPeer
import Firestore

extension ConnectionSettings {
  /// The data channels of calls in the address's system; nil where its clients have none.
  var dataChannels: DataChannelOptions? {
    switch SignallingSystem(address: server) {
    case .skyRTC:
      // A client of SkyRTC opens this channel where it sends the offer.
      DataChannelOptions(opened: [DataChannelConfiguration(label: "undefined")])
    case .firestore:
      if (try? FirestoreAddress(server))?.room == nil {
        // Apps that call each other by name receive on their own channel and send on the other's.
        DataChannelOptions(opened: [DataChannelConfiguration(label: "WebRTCData")], opensWhenAnswering: true)
      } else {
        DataChannelOptions()
      }
    case .socketIO: DataChannelOptions()
    case .whip, .whep, .janus, nil: nil
    }
  }
}
