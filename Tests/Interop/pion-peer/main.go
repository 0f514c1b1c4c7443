// One call with Pion: see ../README.md for its input and output.
//
// Usage: pion-peer VIDEO.ivf AUDIO.ogg
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/webrtc/v3"
	"github.com/pion/webrtc/v3/pkg/media"
	"github.com/pion/webrtc/v3/pkg/media/ivfreader"
	"github.com/pion/webrtc/v3/pkg/media/oggreader"
)

type line struct {
	Call      bool    `json:"call,omitempty"`
	Type      string  `json:"type,omitempty"`
	SDP       string  `json:"sdp,omitempty"`
	Candidate string  `json:"candidate,omitempty"`
	Mid       *string `json:"mid,omitempty"`
	Index     *uint16 `json:"index,omitempty"`
}

type counter struct {
	Video uint64 `json:"video"`
	Audio uint64 `json:"audio"`
}

var output sync.Mutex

func write(value interface{}) {
	text, err := json.Marshal(value)
	check(err)
	output.Lock()
	defer output.Unlock()
	fmt.Println(string(text))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	connection, err := webrtc.NewPeerConnection(webrtc.Configuration{})
	check(err)
	video, err := webrtc.NewTrackLocalStaticSample(
		webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8}, "video", "pion")
	check(err)
	audio, err := webrtc.NewTrackLocalStaticSample(
		webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus}, "audio", "pion")
	check(err)
	for _, track := range []webrtc.TrackLocal{video, audio} {
		sender, err := connection.AddTrack(track)
		check(err)
		go func() {
			buffer := make([]byte, 1500)
			for {
				if _, _, err := sender.Read(buffer); err != nil {
					return
				}
			}
		}()
	}

	var sent, received counter
	connection.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		for {
			packet, _, err := track.ReadRTP()
			if err != nil {
				return
			}
			if track.Kind() == webrtc.RTPCodecTypeAudio {
				atomic.AddUint64(&received.Audio, 1)
			} else if packet.Marker {
				atomic.AddUint64(&received.Video, 1)
			}
		}
	})
	var once sync.Once
	connection.OnConnectionStateChange(func(state webrtc.PeerConnectionState) {
		write(map[string]string{"state": state.String()})
		if state == webrtc.PeerConnectionStateConnected {
			once.Do(func() {
				go sendVideo(video, os.Args[1], &sent.Video)
				go sendAudio(audio, os.Args[2], &sent.Audio)
			})
		}
	})
	connection.OnICECandidate(func(candidate *webrtc.ICECandidate) {
		if candidate != nil {
			init := candidate.ToJSON()
			write(line{Candidate: init.Candidate, Mid: init.SDPMid, Index: init.SDPMLineIndex})
		}
	})
	go func() {
		for range time.Tick(100 * time.Millisecond) {
			write(map[string]counter{
				"sent":     {atomic.LoadUint64(&sent.Video), atomic.LoadUint64(&sent.Audio)},
				"received": {atomic.LoadUint64(&received.Video), atomic.LoadUint64(&received.Audio)},
			})
		}
	}()

	var waiting []webrtc.ICECandidateInit
	scanner := bufio.NewScanner(os.Stdin)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var in line
		check(json.Unmarshal(scanner.Bytes(), &in))
		switch {
		case in.Call:
			offer, err := connection.CreateOffer(nil)
			check(err)
			check(connection.SetLocalDescription(offer))
			write(line{Type: "offer", SDP: offer.SDP})
		case in.Type == "offer":
			check(connection.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: in.SDP}))
			answer, err := connection.CreateAnswer(nil)
			check(err)
			check(connection.SetLocalDescription(answer))
			write(line{Type: "answer", SDP: answer.SDP})
		case in.Type == "answer":
			check(connection.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: in.SDP}))
		case in.Candidate != "":
			waiting = append(waiting, webrtc.ICECandidateInit{
				Candidate: in.Candidate, SDPMid: in.Mid, SDPMLineIndex: in.Index,
			})
		}
		if connection.RemoteDescription() != nil {
			for _, candidate := range waiting {
				check(connection.AddICECandidate(candidate))
			}
			waiting = nil
		}
	}
	check(connection.Close())
}

func sendVideo(track *webrtc.TrackLocalStaticSample, path string, count *uint64) {
	file, err := os.Open(path)
	check(err)
	reader, _, err := ivfreader.NewWith(file)
	check(err)
	// The frame rate of the sample, which the time base of a copied IVF file does not contain.
	const pause = time.Second / 30
	ticker := time.NewTicker(pause)
	for ; ; <-ticker.C {
		frame, _, err := reader.ParseNextFrame()
		if errors.Is(err, io.EOF) {
			return
		}
		check(err)
		check(track.WriteSample(media.Sample{Data: frame, Duration: pause}))
		atomic.AddUint64(count, 1)
	}
}

func sendAudio(track *webrtc.TrackLocalStaticSample, path string, count *uint64) {
	file, err := os.Open(path)
	check(err)
	reader, _, err := oggreader.NewWith(file)
	check(err)
	// The page with the comments contains no audio.
	_, _, err = reader.ParseNextPage()
	check(err)
	const pause = 20 * time.Millisecond
	ticker := time.NewTicker(pause)
	for ; ; <-ticker.C {
		page, _, err := reader.ParseNextPage()
		if errors.Is(err, io.EOF) {
			return
		}
		check(err)
		check(track.WriteSample(media.Sample{Data: page, Duration: pause}))
		atomic.AddUint64(count, 1)
	}
}
